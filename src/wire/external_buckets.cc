#include "wire/external_buckets.h"

#include <algorithm>
#include <array>

#include "base/ini.h"
#include "wire/signed_client.h"

namespace sabia::wire {
namespace {

constexpr char kDefaultSection[] = "default";
constexpr std::string_view kBucketSection = "bucket ";
constexpr char kFirstRegion[] = "us-east-1";
constexpr std::array<std::string_view, 5> kSettings = {"endpoint", "region", "addressing",
                                                       "credentials", "ca_bundle"};

bool IsAws(std::string_view url) {
  const std::size_t scheme = url.find("://");
  std::string_view host = url.substr(scheme == url.npos ? 0 : scheme + 3);
  host = host.substr(0, host.find_first_of(":/"));
  return host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn");
}

bool IsRegion(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

struct Parser {
  const KeyEnvironment& environment;
  env::Files& files;

  static Status CheckSettings(const IniSection& section) {
    for (const auto& [key, value] : section) {
      if (std::find(kSettings.begin(), kSettings.end(), key) == kSettings.end()) {
        return Fail(ErrorCode::kInvalidArgument,
                    "there is no setting '{}': endpoint, region, addressing, credentials and "
                    "ca_bundle are allowed",
                    key);
      }
    }
    return {};
  }

  Status ReadCredentials(const std::string& text, ExternalEndpoint& out) const {
    constexpr std::string_view kProfile = "profile ";
    if (text == "anonymous") return {};
    std::string profile;
    if (text.starts_with(kProfile)) {
      profile = text.substr(text.find_first_not_of(' ', kProfile.size()));
    } else if (!text.empty() && text != "chain") {
      return Fail(ErrorCode::kInvalidArgument,
                  "'credentials' must be 'chain', 'anonymous' or 'profile NAME'");
    }
    ASSIGN_OR_RETURN(out.source, ChooseKeySource(environment, profile, files));
    if (out.region.empty()) out.region = ProfileRegion(environment, profile, files);
    return {};
  }

  Status ReadAddress(const IniSection& section, ExternalEndpoint& out) const {
    out.url = Value(section, "endpoint");
    if (out.region.empty()) out.region = kFirstRegion;
    if (!IsRegion(out.region)) {
      return Fail(ErrorCode::kInvalidArgument, "region '{}' is not of letters, digits and '-'",
                  out.region);
    }
    if (out.url.empty()) out.url = "https://s3." + out.region + ".amazonaws.com";
    RETURN_IF_ERROR(CheckEndpointUrl(out.url));
    const std::string addressing = Value(section, "addressing");
    if (addressing.empty() || addressing == "auto") {
      out.bucket_in_host = IsAws(out.url);
    } else if (addressing == "virtual" || addressing == "path") {
      out.bucket_in_host = addressing == "virtual";
    } else {
      return Fail(ErrorCode::kInvalidArgument,
                  "addressing '{}' is none of 'auto', 'path' and 'virtual'", addressing);
    }
    return {};
  }

  Result<ExternalEndpoint> Read(const IniSection& section) const {
    RETURN_IF_ERROR(CheckSettings(section));
    ExternalEndpoint out;
    out.region = Value(section, "region");
    RETURN_IF_ERROR(ReadCredentials(Value(section, "credentials"), out));
    RETURN_IF_ERROR(ReadAddress(section, out));
    out.ca_bundle = Value(section, "ca_bundle");
    if (out.ca_bundle.empty()) return out;
    ASSIGN_OR_RETURN(const bool there, files.Exists(out.ca_bundle));
    if (!there) {
      return Fail(ErrorCode::kInvalidArgument, "ca_bundle '{}' does not exist", out.ca_bundle);
    }
    return out;
  }

  static std::string Value(const IniSection& section, std::string_view key) {
    const auto found = section.find(key);
    return found == section.end() ? std::string() : found->second;
  }
};

}  // namespace

json::object ExternalEndpoint::ToJson() const {
  return {{"url", url},
          {"region", region},
          {"bucket_in_host", bucket_in_host},
          {"ca_bundle", ca_bundle},
          {"keys", source.ToJson()}};
}

Result<ExternalEndpoint> ExternalEndpoint::FromJson(const json::object& document) {
  ExternalEndpoint out;
  out.url = GetString(document, "url");
  out.region = GetString(document, "region");
  out.bucket_in_host = GetBool(document, "bucket_in_host");
  out.ca_bundle = GetString(document, "ca_bundle");
  const json::object* keys = FindObject(document, "keys");
  if (keys == nullptr) return Fail(ErrorCode::kCorrupt, "an endpoint has no 'keys'");
  ASSIGN_OR_RETURN(out.source, KeySource::FromJson(*keys));
  return out;
}

S3Endpoint ExternalEndpoint::Open(env::Clock& clock) const {
  S3Endpoint open;
  open.url = url;
  open.region = region;
  open.bucket_in_host = bucket_in_host;
  open.ca_bundle = ca_bundle;
  open.keys = KeyProvider::Create(source, clock);
  open.budget = std::make_shared<RetryBudget>();
  return open;
}

Result<ExternalBuckets> ExternalBuckets::Parse(std::string_view text,
                                               const KeyEnvironment& environment, env::Files& files,
                                               env::Clock& clock) {
  ASSIGN_OR_RETURN(IniDocument document, ParseIni(text));
  const Parser parser{environment, files};
  ExternalBuckets out;
  IniSection base;
  if (const auto found = document.find(kDefaultSection); found != document.end()) {
    base = found->second;
  }
  for (const auto& [name, section] : document) {
    const bool is_default = name == kDefaultSection;
    const std::string bucket =
        name.starts_with(kBucketSection) ? name.substr(kBucketSection.size()) : std::string();
    if (!is_default && !IsBucketName(bucket)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "section '[{}]' is neither '[default]' nor '[bucket NAME]' with a bucket's name",
                  name);
    }
    IniSection merged = section;
    merged.insert(base.begin(), base.end());
    auto endpoint = parser.Read(merged);
    if (!endpoint) return Wrap(std::move(endpoint).error(), fmt::format("section '[{}]'", name));
    Entry entry{*endpoint, endpoint->Open(clock)};
    if (is_default) {
      out.fallback_ = std::move(entry);
    } else {
      out.named_.emplace(bucket, std::move(entry));
    }
  }
  return out;
}

const ExternalBuckets::Entry* ExternalBuckets::Named(std::string_view bucket) const {
  const auto found = named_.find(bucket);
  return found == named_.end() ? nullptr : &found->second;
}

}  // namespace sabia::wire
