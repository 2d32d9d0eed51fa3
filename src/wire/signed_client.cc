#include "wire/signed_client.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sabia::wire {
namespace {

constexpr std::int64_t kFirstWaitMs = 50;
constexpr std::int64_t kLongestWaitMs = 5'000;
constexpr std::int64_t kRetryAfterMaxSeconds = 3'600;
constexpr Millis kSkewMax{5 * 60'000};
constexpr int kMendsMax = 2;  // of keys or clock, in one call

bool IsTransient(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

bool IsTransient(const HttpAnswer& answer) {
  if (answer.status >= 500 && answer.status != 501) return true;
  if (answer.status == 429 || answer.status == 408) return true;
  if (answer.status < 400) return false;
  constexpr std::array kCodes{"SlowDown",        "Throttling",       "ThrottlingException",
                              "RequestTimeout",  "RequestThrottled", "TooManyRequestsException",
                              "OperationAborted"};
  const std::string code = XmlText(answer.body, "Code");
  return std::any_of(kCodes.begin(), kCodes.end(), [&](const char* known) {
    return code == known ||
           answer.body.find(fmt::format("\"__type\":\"{}\"", known)) != std::string::npos;
  });
}

// What the service asks for: seconds, or a date.
Millis RetryAfter(const HttpAnswer& answer, WallTime now) {
  const std::string_view text = answer.headers.Get("Retry-After");
  if (text.empty()) return Millis(0);
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size()) {
    return Millis(std::clamp<std::int64_t>(seconds, 0, kRetryAfterMaxSeconds) * 1000);
  }
  const auto date = ParseRfc1123(text);
  if (!date) return Millis(0);
  return std::clamp(*date - now, Millis(0), Millis(kRetryAfterMaxSeconds * 1000));
}

// "127.0.0.1:9000" of "http://127.0.0.1:9000/"; the port is left out where it is the scheme's.
std::string HostOf(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const bool tls = url.starts_with("https");
  std::string_view host = url.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  const std::string_view usual = tls ? ":443" : ":80";
  if (host.ends_with(usual)) host.remove_suffix(usual.size());
  return std::string(host);
}

}  // namespace

Status CheckEndpointUrl(std::string_view url) {
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  if (!known || HostOf(url).empty()) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not an http:// or https:// endpoint", url);
  }
  std::string_view rest = url.substr(url.find("://") + 3);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?#@") == rest.npos) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "endpoint '{}' is more than scheme, host and port: no path, user or query is allowed",
              rest.find('@') == rest.npos ? url : "http://…@…");
}

Result<std::unique_ptr<SignedClient>> SignedClient::Create(ServiceEndpoint endpoint,
                                                           Options options, env::Clock& clock) {
  while (endpoint.url.ends_with('/')) endpoint.url.pop_back();
  RETURN_IF_ERROR(CheckEndpointUrl(endpoint.url));
  return std::unique_ptr<SignedClient>(
      new SignedClient(std::move(endpoint), std::move(options), clock));
}

SignedClient::SignedClient(ServiceEndpoint endpoint, Options options, env::Clock& clock)
    : endpoint_(std::move(endpoint)),
      scheme_(endpoint_.url.starts_with("https") ? "https://" : "http://"),
      host_(HostOf(endpoint_.url)),
      options_(std::move(options)),
      clock_(clock),
      jitter_(static_cast<std::uint64_t>(clock.Mono().time_since_epoch().count())),
      http_(options_.http) {}

Status SignedClient::Sign(OutgoingRequest& request) {
  if (endpoint_.keys) {
    ASSIGN_OR_RETURN(std::optional<AwsKeys> keys, endpoint_.keys->Keys());
    if (!keys) return {};  // anonymous
    endpoint_.identity.access_key_id = std::move(keys->access_key_id);
    endpoint_.identity.secret_access_key = std::move(keys->secret_access_key);
    endpoint_.identity.session_token = std::move(keys->session_token);
  }
  SignRequest(request, endpoint_.identity, clock_.Wall() + skew_);
  return {};
}

Status SignedClient::Find() {
  if (!endpoint_.locate) return {};
  ASSIGN_OR_RETURN(std::string url, endpoint_.locate());
  if (url == endpoint_.url) return {};
  if (const Status checked = CheckEndpointUrl(url); !checked) {
    return Fail(ErrorCode::kUnavailable, "{}", checked.error().message);
  }
  scheme_ = url.starts_with("https") ? "https://" : "http://";
  host_ = HostOf(url);
  endpoint_.url = std::move(url);
  return {};
}

Result<HttpAnswer> SignedClient::Attempt(SignedCall& call) {
  ++attempts_;
  RETURN_IF_ERROR(Find());
  OutgoingRequest request = call.request;
  request.headers.Set("Host", call.host_prefix + host_);
  RETURN_IF_ERROR(Sign(request));
  HttpCall http{.method = request.method,
                .url = scheme_ + call.host_prefix + host_ + request.path,
                .headers = std::move(request.headers),
                .body = call.body,
                .file = call.file,
                .on_head = call.on_head,
                .body_max = call.body_max};
  if (!request.query.empty()) http.url += "?" + request.query;
  sink_failed_ = false;
  if (call.sink) {
    http.sink = [this, &call](std::string_view data) {
      Status taken = call.sink(data);
      sink_failed_ = !taken;
      return taken;
    };
  }
  return http_.Perform(http);
}

bool SignedClient::Mended(const HttpAnswer& answer) {
  if (answer.status != 400 && answer.status != 401 && answer.status != 403) return false;
  const std::string code = XmlText(answer.body, "Code");
  const auto theirs = ParseRfc1123(answer.headers.Get("Date"));
  const Millis skew = theirs ? *theirs - clock_.Wall() : skew_;
  // The answer to a HEAD has no body that could say so.
  const bool skewed = answer.body.empty() && std::chrono::abs(skew - skew_) > kSkewMax;
  if (theirs && (skewed || code == "RequestTimeTooSkewed")) {
    skew_ = skew;
    return true;
  }
  constexpr std::array kKeyCodes{"ExpiredToken", "ExpiredTokenException", "InvalidToken",
                                 "TokenRefreshRequired", "InvalidAccessKeyId"};
  const bool about_keys =
      answer.body.empty() || std::find(kKeyCodes.begin(), kKeyCodes.end(), code) != kKeyCodes.end();
  const SigningIdentity& used = endpoint_.identity;
  return about_keys && endpoint_.keys &&
         endpoint_.keys->Refused(
             {used.access_key_id, used.secret_access_key, used.session_token, {}});
}

bool SignedClient::WaitBefore(int retry, Millis least, MonoTime deadline) {
  const std::int64_t bound = std::min(kLongestWaitMs, kFirstWaitMs << std::min(retry, 10));
  Millis wait(static_cast<std::int64_t>(jitter_.Below(static_cast<std::uint64_t>(bound) + 1)));
  wait = std::max(wait, least);
  if (clock_.Mono() + wait >= deadline) return false;
  if (endpoint_.budget) wait = std::max(wait, endpoint_.budget->Take(clock_.Mono()));
  if (clock_.Mono() + wait >= deadline) return false;
  ::poll(nullptr, 0, static_cast<int>(wait.count()));
  return true;
}

Result<HttpAnswer> SignedClient::Call(SignedCall& call) {
  const MonoTime deadline = clock_.Mono() + options_.patience;
  int mends = 0;
  for (int retry = 0;; ++retry) {
    auto answer = Attempt(call);
    if (answer && Mended(*answer) && mends++ < kMendsMax) continue;
    const bool transient = answer ? IsTransient(*answer) : IsTransient(answer.error());
    if (!transient || sink_failed_) return answer;
    const Millis least = answer ? RetryAfter(*answer, clock_.Wall()) : Millis(0);
    if (!WaitBefore(retry, least, deadline)) return answer;
    if (call.before_retry) RETURN_IF_ERROR(call.before_retry(call.request));
  }
}

std::string XmlText(std::string_view document, std::string_view element) {
  const std::string open = fmt::format("<{}>", element);
  const std::size_t begin = document.find(open);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = document.find('<', begin + open.size());
  if (end == std::string_view::npos) return {};
  return std::string(document.substr(begin + open.size(), end - begin - open.size()));
}

Error S3RefusalOf(const HttpAnswer& answer, std::string_view what) {
  const std::string code = XmlText(answer.body, "Code");
  ErrorCode ours = ErrorCode::kInvalidArgument;
  if (answer.status == 404) {
    ours = ErrorCode::kNotFound;
  } else if (answer.status == 403 || answer.status == 401 || code == "ExpiredToken" ||
             code == "InvalidToken") {
    ours = ErrorCode::kDenied;
  } else if (answer.status == 412) {
    ours = ErrorCode::kConflict;
  } else if (code == "BadDigest" || code == "XAmzContentSHA256Mismatch" ||
             code == "IncompleteBody") {
    ours = ErrorCode::kCorrupt;
  } else if (answer.status >= 500 || answer.status == 429) {
    ours = ErrorCode::kUnavailable;
  }
  return {ours, fmt::format("{}: {} {} {}", what, answer.status,
                            code.empty() ? ReasonPhrase(answer.status) : std::string_view(code),
                            XmlText(answer.body, "Message"))};
}

}  // namespace sabia::wire
