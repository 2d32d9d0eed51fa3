#include "agent/spot_notice.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "base/json.h"
#include "wire/http_client.h"

namespace sabia::agent {
namespace {

constexpr char kTokenPath[] = "/latest/api/token";
constexpr char kActionPath[] = "/latest/meta-data/spot/instance-action";
constexpr char kRebalancePath[] = "/latest/meta-data/events/recommendations/rebalance";
constexpr char kTokenHeader[] = "X-aws-ec2-metadata-token";
constexpr char kLifetimeHeader[] = "X-aws-ec2-metadata-token-ttl-seconds";
constexpr char kTokenSeconds[] = "21600";
constexpr std::size_t kAnswerBytesMax = 16 << 10;
constexpr unsigned kOk = 200, kUnauthorized = 401, kNotFound = 404;

Result<WallTime> TimeIn(const json::object& document, std::string_view member) {
  const auto text = FindString(document, member);
  if (!text) return Fail(ErrorCode::kCorrupt, "the notice has no '{}'", member);
  return ParseIso8601(*text);
}

}  // namespace

// The metadata service, with its session token.
class SpotNotice::Session {
 public:
  explicit Session(const std::string& url)
      : url_(url),
        client_({.connect_timeout = Millis(1'000),
                 .stall_timeout = Millis(1'000),
                 .ca_bundle = "",
                 .direct = true}) {}

  // Nothing: there is nothing to say.
  Result<std::optional<json::object>> Get(const char* path) {
    for (int tries = 0; tries < 2; ++tries) {
      if (token_.empty()) RETURN_IF_ERROR(FetchToken());
      wire::HttpCall call{.url = url_ + path, .headers = {}, .body_max = kAnswerBytesMax};
      call.headers.Add(kTokenHeader, token_);
      ASSIGN_OR_RETURN(const wire::HttpAnswer answer, client_.Perform(call));
      if (answer.status == kNotFound) return std::optional<json::object>();
      if (answer.status == kOk) {
        ASSIGN_OR_RETURN(json::object document, ParseJsonObject(answer.body));
        return std::optional<json::object>(std::move(document));
      }
      token_.clear();
      if (answer.status != kUnauthorized) return Unexpected(path, answer.status);
    }
    return Unexpected(path, kUnauthorized);
  }

 private:
  Status FetchToken() {
    wire::HttpCall call{
        .method = "PUT", .url = url_ + kTokenPath, .headers = {}, .body_max = kAnswerBytesMax};
    call.headers.Add(kLifetimeHeader, kTokenSeconds);
    ASSIGN_OR_RETURN(wire::HttpAnswer answer, client_.Perform(call));
    if (answer.status != kOk || answer.body.empty()) return Unexpected(kTokenPath, answer.status);
    token_ = std::move(answer.body);
    return {};
  }

  static tl::unexpected<Error> Unexpected(const char* path, unsigned status) {
    return Fail(ErrorCode::kUnavailable, "the instance metadata answered {} to {}", status, path);
  }

  const std::string url_;
  wire::HttpClient client_;
  std::string token_;
};

SpotNotice::SpotNotice(std::string url, Millis interval)
    : url_(std::move(url)), interval_(interval), news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

SpotNotice::~SpotNotice() { Stop(); }

void SpotNotice::Start() {
  thread_ = std::thread([this] { Watch(); });
}

void SpotNotice::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

SpotNotice::Seen SpotNotice::Take() {
  std::uint64_t ignored = 0;
  (void)!::read(news_.get(), &ignored, sizeof ignored);
  const std::lock_guard lock(mutex_);
  return seen_;
}

void SpotNotice::Tell(const Seen& seen) {
  {
    const std::lock_guard lock(mutex_);
    seen_ = seen;
  }
  const std::uint64_t one = 1;
  (void)!::write(news_.get(), &one, sizeof one);
}

bool SpotNotice::Pause() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, interval_, [this] { return stopping_; });
  return !stopping_;
}

void SpotNotice::Watch() {
  Session session(url_);
  Seen seen;
  const auto look = [&]() -> Status {
    ASSIGN_OR_RETURN(const auto action, session.Get(kActionPath));
    if (action && !seen.ends_at) {
      ASSIGN_OR_RETURN(seen.ends_at, TimeIn(*action, "time"));
      seen.action = GetString(*action, "action");
      Tell(seen);
    }
    if (seen.rebalance_noticed) return {};
    ASSIGN_OR_RETURN(const auto rebalance, session.Get(kRebalancePath));
    if (!rebalance) return {};
    ASSIGN_OR_RETURN(seen.rebalance_noticed, TimeIn(*rebalance, "noticeTime"));
    Tell(seen);
    return {};
  };
  do {
    const Status looked = look();
    if (looked || !seen.problem.empty()) continue;
    seen.problem = looked.error().message;
    Tell(seen);
  } while (!seen.ends_at && Pause());
}

}  // namespace sabia::agent
