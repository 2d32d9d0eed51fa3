#include "wire/key_provider.h"

#include <mutex>

#include "base/log.h"
#include "env/posix/posix_files.h"
#include "wire/http_client.h"

namespace sabia::wire {
namespace {

constexpr Millis kRenewBefore{5 * 60'000};
constexpr Millis kAskAgainAfter{10'000};
constexpr std::size_t kDocumentMax = 64 << 10;
constexpr std::size_t kTokenMax = 16 << 10;
constexpr int kTries = 3;

// Metadata services are near: they answer at once or are not there.
HttpClientOptions MetadataOptions() {
  HttpClientOptions options;
  options.connect_timeout = Millis(1'000);
  options.stall_timeout = Millis(2'000);
  options.direct = true;
  return options;
}

Result<AwsKeys> ParseKeys(std::string_view body) {
  auto document = ParseJsonObject(body);
  if (!document) return Fail(ErrorCode::kCorrupt, "the answer is no JSON document");
  const std::string code = GetString(*document, "Code", "Success");
  AwsKeys keys{GetString(*document, "AccessKeyId"),
               GetString(*document, "SecretAccessKey"),
               GetString(*document, "Token"),
               {}};
  if (code != "Success" || keys.access_key_id.empty() || keys.secret_access_key.empty()) {
    return Fail(ErrorCode::kNotFound, "the answer holds no keys ({})", code);
  }
  if (const std::string expires = GetString(*document, "Expiration"); !expires.empty()) {
    ASSIGN_OR_RETURN(keys.expires, ParseIso8601(expires));
  }
  return keys;
}

// The body of a 200 answer; a few tries, for the first calls after a boot may fail.
Result<std::string> Ask(const HttpCall& call) {
  HttpClient client(MetadataOptions());
  Result<std::string> last = Fail(ErrorCode::kUnavailable, "not asked");
  for (int i = 0; i < kTries; ++i) {
    auto answer = client.Perform(call);
    if (!answer) {
      last = tl::make_unexpected(std::move(answer).error());
      if (last.error().code == ErrorCode::kUnavailable) return last;  // nobody is there
      continue;
    }
    if (answer->status == 200) return std::move(answer->body);
    last = Fail(answer->status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable, "{} {}: {}",
                call.method, call.url, answer->status);
    if (answer->status < 500 && answer->status != 429) return last;
  }
  return last;
}

Result<AwsKeys> AskContainer(const KeySource& source) {
  HttpCall call{.url = source.url, .body_max = kDocumentMax};
  std::string token = source.token;
  if (!source.token_file.empty()) {
    env::PosixFiles files;
    ASSIGN_OR_RETURN(token, files.Read(source.token_file, kTokenMax));
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  }
  if (!token.empty()) call.headers.Add("Authorization", token);
  ASSIGN_OR_RETURN(const std::string body, Ask(call));
  return ParseKeys(body);
}

Result<AwsKeys> AskInstance(const KeySource& source) {
  std::string base = source.url;
  while (base.ends_with('/')) base.pop_back();
  HttpCall session{.method = "PUT", .url = base + "/latest/api/token", .body_max = kTokenMax};
  session.headers.Add("X-aws-ec2-metadata-token-ttl-seconds", "21600");
  ASSIGN_OR_RETURN(const std::string token, Ask(session));
  const std::string roles = base + "/latest/meta-data/iam/security-credentials/";
  HttpCall call{.url = roles, .body_max = kDocumentMax};
  call.headers.Add("X-aws-ec2-metadata-token", token);
  ASSIGN_OR_RETURN(std::string role, Ask(call));
  role = role.substr(0, role.find('\n'));
  if (role.empty()) return Fail(ErrorCode::kNotFound, "the instance has no role");
  call.url = roles + role;
  ASSIGN_OR_RETURN(const std::string body, Ask(call));
  return ParseKeys(body);
}

Result<AwsKeys> Fetch(const KeySource& source) {
  env::PosixFiles files;
  switch (source.kind) {
    case KeySource::Kind::kAnonymous:
      break;
    case KeySource::Kind::kStatic:
      return source.keys;
    case KeySource::Kind::kProfile:
      return ReadProfile(source, files);
    case KeySource::Kind::kContainer:
      return AskContainer(source);
    case KeySource::Kind::kInstance:
      return AskInstance(source);
  }
  return AwsKeys();
}

std::string Describe(const KeySource& source) {
  const std::string& where = source.url.empty() ? source.profile : source.url;
  return fmt::format("failed to get AWS credentials from the {} source '{}'", Name(source.kind),
                     where);
}

class SourceProvider final : public KeyProvider {
 public:
  SourceProvider(KeySource source, env::Clock& clock) : source_(std::move(source)), clock_(clock) {}

  Result<std::optional<AwsKeys>> Keys() override {
    if (source_.kind == KeySource::Kind::kAnonymous) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (keys_ && !Aging(kRenewBefore)) return keys_;
    if (keys_ && !MayAsk() && !Aging(Millis(0))) return keys_;
    asked_ = clock_.Mono();
    auto fresh = Fetch(source_);
    if (fresh) {
      keys_ = std::move(*fresh);
      return keys_;
    }
    if (keys_ && !Aging(Millis(0))) {
      LogWarn("{}: {}; the old ones serve on", Describe(source_), fresh.error().message);
      return keys_;
    }
    return Wrap(std::move(fresh).error(), Describe(source_));
  }

  bool Refused(const AwsKeys& keys) override {
    if (source_.kind == KeySource::Kind::kStatic) return false;
    const std::lock_guard lock(mutex_);
    const bool renewed = keys_ && (keys_->access_key_id != keys.access_key_id ||
                                   keys_->session_token != keys.session_token);
    if (renewed) return true;
    if (keys_ && !MayAsk()) return false;
    keys_.reset();
    return true;
  }

 private:
  bool Aging(Millis before) const {
    return keys_->expires && clock_.Wall() + before >= *keys_->expires;
  }
  bool MayAsk() const { return !asked_ || clock_.Mono() - *asked_ >= kAskAgainAfter; }

  const KeySource source_;
  env::Clock& clock_;
  std::mutex mutex_;
  std::optional<AwsKeys> keys_;
  std::optional<MonoTime> asked_;
};

}  // namespace

std::shared_ptr<KeyProvider> KeyProvider::Create(KeySource source, env::Clock& clock) {
  return std::make_shared<SourceProvider>(std::move(source), clock);
}

}  // namespace sabia::wire
