#include "wire/signed_client.h"

#include <poll.h>

#include <algorithm>
#include <array>

namespace sabia::wire {
namespace {

constexpr std::int64_t kFirstWaitMs = 50;
constexpr std::int64_t kLongestWaitMs = 5'000;

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

Result<std::unique_ptr<SignedClient>> SignedClient::Create(ServiceEndpoint endpoint,
                                                           Options options, env::Clock& clock) {
  while (endpoint.url.ends_with('/')) endpoint.url.pop_back();
  const bool known = endpoint.url.starts_with("http://") || endpoint.url.starts_with("https://");
  if (!known || HostOf(endpoint.url).empty()) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not an http:// or https:// endpoint",
                endpoint.url);
  }
  return std::unique_ptr<SignedClient>(
      new SignedClient(std::move(endpoint), std::move(options), clock));
}

SignedClient::SignedClient(ServiceEndpoint endpoint, Options options, env::Clock& clock)
    : endpoint_(std::move(endpoint)),
      host_(HostOf(endpoint_.url)),
      options_(std::move(options)),
      clock_(clock),
      jitter_(static_cast<std::uint64_t>(clock.Mono().time_since_epoch().count())),
      http_(options_.http) {}

Result<HttpAnswer> SignedClient::Attempt(SignedCall& call) {
  ++attempts_;
  OutgoingRequest request = call.request;
  request.headers.Set("Host", host_);
  SignRequest(request, endpoint_.identity, clock_.Wall());
  HttpCall http{.method = request.method,
                .url = endpoint_.url + request.path,
                .headers = std::move(request.headers),
                .body = call.body,
                .file = call.file,
                .on_head = call.on_head,
                .sink = call.sink,
                .body_max = call.body_max};
  if (!request.query.empty()) http.url += "?" + request.query;
  return http_.Perform(http);
}

bool SignedClient::WaitBefore(int retry, MonoTime deadline) {
  const std::int64_t bound = std::min(kLongestWaitMs, kFirstWaitMs << std::min(retry, 10));
  const auto wait = static_cast<std::int64_t>(jitter_.Below(static_cast<std::uint64_t>(bound) + 1));
  if (clock_.Mono() + Millis(wait) >= deadline) return false;
  ::poll(nullptr, 0, static_cast<int>(wait));
  return true;
}

Result<HttpAnswer> SignedClient::Call(SignedCall& call) {
  const MonoTime deadline = clock_.Mono() + options_.patience;
  for (int retry = 0;; ++retry) {
    auto answer = Attempt(call);
    const bool transient = answer ? IsTransient(*answer) : IsTransient(answer.error());
    if (!transient) return answer;
    if (!WaitBefore(retry, deadline)) return answer;
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
