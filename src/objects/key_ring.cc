#include "objects/key_ring.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/encoding.h"
#include "base/json.h"
#include "env/posix/posix_files.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kKeyFileMax = 4096;
constexpr std::string_view kSuffix = ".json";
constexpr int kEnvelopeVersion = 1;

std::string_view Text(const DataKey& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

Result<DataKey> KeyFrom(std::string_view bytes) {
  if (bytes.size() != kKeyBytes) return Fail(ErrorCode::kCorrupt, "a key has a wrong length");
  DataKey out;
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

Result<MasterKey> ParseKey(std::string_view text, const env::Path& file) {
  const auto document = ParseJsonObject(text);
  if (document) {
    MasterKey out;
    out.id = GetString(*document, "KeyId");
    out.use = GetString(*document, "Use");
    out.alias = GetString(*document, "Alias");
    const auto created = ParseIso8601(GetString(*document, "Created"));
    const auto bytes = Base64Decode(GetString(*document, "Key"));
    const bool good = out.id + std::string(kSuffix) == file.filename().native() &&
                      (out.use == kS3Keys || out.use == kKmsKeys) && created && bytes &&
                      bytes->size() == kKeyBytes;
    if (good) {
      out.created = *created;
      std::copy(bytes->begin(), bytes->end(), out.secret.begin());
      return out;
    }
  }
  return Fail(ErrorCode::kCorrupt, "'{}' is not a master key", file.native());
}

// What the seal covers: all but itself, and the numbers of parts, which the parts' own tags cover.
std::string AssociatedOf(const json::object& envelope) {
  json::object out = envelope;
  out.erase("numbers");
  out.erase("wrapped");
  return json::serialize(out);
}

Result<json::object> ParseEnvelope(std::string_view envelope) {
  auto document = ParseJsonObject(envelope);
  if (!document || GetInt(*document, "v") != kEnvelopeVersion) {
    return Fail(ErrorCode::kCorrupt, "an envelope cannot be read");
  }
  return std::move(*document);
}

}  // namespace

env::Path KeyDirectory(const store::Paths& paths) { return paths.home() / "keys"; }

std::string KeyRing::ArnOf(std::string_view id) const {
  return fmt::format("arn:aws:kms:{}:{}:key/{}", options_.region, options_.account, id);
}

std::string KeyRing::AliasArnOf(std::string_view alias) const {
  return fmt::format("arn:aws:kms:{}:{}:{}", options_.region, options_.account, alias);
}

Status KeyRing::Reload() {
  const auto names = files_.List(options_.directory);
  if (!names && names.error().code == ErrorCode::kNotFound) return {};
  if (!names) return tl::make_unexpected(names.error());
  for (const std::string& name : *names) {
    if (!name.ends_with(kSuffix) || keys_.contains(name.substr(0, name.size() - kSuffix.size()))) {
      continue;
    }
    const env::Path file = options_.directory / name;
    ASSIGN_OR_RETURN(const std::string text, files_.Read(file, kKeyFileMax));
    ASSIGN_OR_RETURN(MasterKey key, ParseKey(text, file));
    std::string id = key.id;
    keys_.emplace(std::move(id), std::move(key));
  }
  return {};
}

Result<MasterKey> KeyRing::ById(std::string_view id) {
  if (!keys_.contains(id)) RETURN_IF_ERROR(Reload());
  const auto found = keys_.find(id);
  if (found != keys_.end()) return found->second;
  return Fail(ErrorCode::kNotFound, "key '{}' is not in '{}'", id, options_.directory.native());
}

Result<MasterKey> KeyRing::FindKms(std::string_view name) {
  RETURN_IF_ERROR(Reload());
  std::string_view wanted = name;
  const std::string arn_head = fmt::format("arn:aws:kms:{}:{}:", options_.region, options_.account);
  if (wanted.starts_with(arn_head)) {
    wanted.remove_prefix(arn_head.size());
    if (wanted.starts_with("key/")) wanted.remove_prefix(std::string_view("key/").size());
  }
  for (const auto& [id, key] : keys_) {
    if (key.use != kKmsKeys) continue;
    if (id == wanted || (!key.alias.empty() && key.alias == wanted)) return key;
  }
  return Fail(ErrorCode::kNotFound, "key '{}' does not exist", name);
}

Result<MasterKey> KeyRing::Newest() {
  RETURN_IF_ERROR(Reload());
  const MasterKey* newest = nullptr;
  for (const auto& [id, key] : keys_) {
    if (key.use != kS3Keys) continue;
    if (newest == nullptr || newest->created < key.created) newest = &key;
  }
  if (newest != nullptr) return *newest;
  return Make(kS3Keys, "");
}

Result<MasterKey> KeyRing::Make(std::string_view use, std::string_view alias) {
  MasterKey key{random_.Uuid(), std::string(use), std::string(alias), clock_.Wall(), {}};
  random_.Fill(key.secret);
  if (::mkdir(options_.directory.c_str(), 0700) == 0) {
    RETURN_IF_ERROR(env::SyncDirectory(options_.directory.parent_path()));
  } else if (errno != EEXIST) {
    return FailErrno(errno, "failed to create '{}'", options_.directory.native());
  }
  const json::object document{{"KeyId", key.id},
                              {"Use", key.use},
                              {"Alias", key.alias},
                              {"Created", FormatIso8601(key.created)},
                              {"Key", Base64Encode(Text(key.secret))}};
  RETURN_IF_ERROR(files_.WriteAtomically(options_.directory / (key.id + std::string(kSuffix)),
                                         json::serialize(document) + "\n", {.mode = 0600}));
  keys_.emplace(key.id, key);
  return key;
}

Result<SealedKey> KeyRing::NewDataKey(const Encryption& encryption) {
  const std::lock_guard lock(mutex_);
  const bool kms = encryption.algorithm != "AES256";
  const std::string_view name = encryption.key_id.empty() ? kDefaultAlias : encryption.key_id;
  Result<MasterKey> master = kms ? FindKms(name) : Newest();
  const bool first = kms && !master && master.error().code == ErrorCode::kNotFound &&
                     (name == kDefaultAlias || name == AliasArnOf(kDefaultAlias));
  if (first) master = Make(kKmsKeys, kDefaultAlias);
  if (!master) return tl::make_unexpected(master.error());
  SealedKey out;
  random_.Fill(out.key);
  json::object envelope{
      {"v", kEnvelopeVersion}, {"algorithm", encryption.algorithm}, {"key", master->id}};
  if (!encryption.context.empty()) envelope["context"] = encryption.context;
  std::array<unsigned char, 12> nonce{};
  random_.Fill(nonce);
  const std::string associated = AssociatedOf(envelope);
  ASSIGN_OR_RETURN(const std::string wrapped,
                   SealText({master->secret, associated}, Text(out.key), nonce));
  envelope["wrapped"] = Base64Encode(wrapped);
  out.envelope = json::serialize(envelope);
  if (kms) out.key_arn = ArnOf(master->id);
  return out;
}

Result<DataKey> KeyRing::Open(std::string_view envelope) {
  ASSIGN_OR_RETURN(const json::object document, ParseEnvelope(envelope));
  MasterKey master;
  {
    const std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(master, ById(GetString(document, "key")));
  }
  ASSIGN_OR_RETURN(const std::string wrapped, Base64Decode(GetString(document, "wrapped")));
  const std::string associated = AssociatedOf(document);
  ASSIGN_OR_RETURN(const std::string bytes, OpenText({master.secret, associated}, wrapped));
  return KeyFrom(bytes);
}

Result<MasterKey> KeyRing::Find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return FindKms(name);
}

Result<std::vector<MasterKey>> KeyRing::List() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(Reload());
  std::vector<MasterKey> out;
  for (const auto& [id, key] : keys_) out.push_back(key);
  std::stable_sort(out.begin(), out.end(),
                   [](const MasterKey& a, const MasterKey& b) { return a.created < b.created; });
  return out;
}

Result<MasterKey> KeyRing::Create(std::string_view use, std::string_view alias) {
  const std::lock_guard lock(mutex_);
  if (!alias.empty() && FindKms(alias)) {
    return Fail(ErrorCode::kAlreadyExists, "the alias '{}' is taken", alias);
  }
  return Make(use, alias);
}

Result<std::string> NumberParts(std::string_view envelope, const std::vector<int>& numbers) {
  ASSIGN_OR_RETURN(json::object document, ParseEnvelope(envelope));
  bool natural = true;
  json::array list;
  for (const int number : numbers) {
    list.push_back(number);
    natural = natural && list.size() == static_cast<std::size_t>(number);
  }
  if (natural) return std::string(envelope);
  document["numbers"] = std::move(list);
  return json::serialize(document);
}

Result<std::vector<Segment>> SegmentsOf(const ObjectInfo& info) {
  if (info.parts.empty()) return std::vector<Segment>{{info.size, 0}};
  ASSIGN_OR_RETURN(const json::object document, ParseEnvelope(info.envelope));
  const json::array* const numbers = FindArray(document, "numbers");
  if (numbers != nullptr && numbers->size() != info.parts.size()) {
    return Fail(ErrorCode::kCorrupt, "an envelope counts other parts than its object");
  }
  std::vector<Segment> out;
  for (const std::uint64_t size : info.parts) {
    const std::size_t at = out.size();
    const json::value* const number = numbers == nullptr ? nullptr : &(*numbers)[at];
    if (number != nullptr && !number->is_int64()) {
      return Fail(ErrorCode::kCorrupt, "an envelope has a bad number of a part");
    }
    out.push_back({size, number != nullptr ? static_cast<int>(number->get_int64())
                                           : static_cast<int>(at) + 1});
  }
  return out;
}

Result<Encryption> ReadEnvelope(std::string_view envelope) {
  if (envelope.empty()) return Encryption{};
  ASSIGN_OR_RETURN(const json::object document, ParseEnvelope(envelope));
  Encryption out{GetString(document, "algorithm"), "", GetString(document, "context")};
  if (out.algorithm != "AES256") out.key_id = GetString(document, "key");
  return out;
}

}  // namespace sabia::objects
