// A stand-in for the instance metadata service, on a free port.
#include "agent/spot_notice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <map>

#include "base/check.h"
#include "env/posix/posix_clock.h"
#include "wire/http_server.h"

namespace sabia::agent {
namespace {

using ::testing::HasSubstr;

class Metadata final : public wire::Handler {
 public:
  Metadata() {
    wire::HttpServerOptions options;
    options.listeners.push_back({"127.0.0.1", 0, nullptr});
    auto server = wire::HttpServer::Start(options, *this, clock_);
    CHECK_MSG(server.has_value(), server.error().message);
    server_ = std::move(*server);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_->port(0)); }

  void Say(const std::string& path, const std::string& body) {
    const std::lock_guard lock(mutex_);
    answers_["/latest/meta-data/" + path] = body;
  }
  void ForgetToken() {
    const std::lock_guard lock(mutex_);
    ++token_;
  }
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  int tokens() {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }

  void Handle(wire::Exchange& exchange) override {
    const wire::RequestHead& head = exchange.head();
    const std::lock_guard lock(mutex_);
    wire::Response response;
    const std::string token = fmt::format("token-{}", token_);
    if (head.raw_path == "/latest/api/token") {
      const bool right = head.method == "PUT" &&
                         head.headers.Get("X-aws-ec2-metadata-token-ttl-seconds") == "21600";
      response.status = right ? 200 : 400;
      response.body = token;
      ++tokens_;
    } else if (head.headers.Get("X-aws-ec2-metadata-token") != token) {
      response.status = 401;
    } else {
      ++asked_;
      const auto answer = answers_.find(head.raw_path);
      response.status = answer == answers_.end() ? 404 : 200;
      if (answer != answers_.end()) response.body = answer->second;
    }
    (void)exchange.Send(response);
  }

 private:
  env::PosixClock clock_;
  std::mutex mutex_;
  std::map<std::string, std::string> answers_;
  int token_ = 1, tokens_ = 0, asked_ = 0;
  std::unique_ptr<wire::HttpServer> server_;
};

bool Wait(SpotNotice& notice) {
  constexpr int kPatienceMs = 30'000;
  pollfd item{notice.news(), POLLIN, 0};
  return ::poll(&item, 1, kPatienceMs) == 1;
}

TEST(SpotNotice, TellsWhenTheMachineIsTakenAway) {
  Metadata metadata;
  SpotNotice notice(metadata.url(), Millis(5));
  notice.Start();
  for (int i = 0; metadata.asked() < 4 && i < 6000; ++i) ::poll(nullptr, 0, 5);
  EXPECT_FALSE(notice.Take().ends_at);
  metadata.ForgetToken();  // a token lives for six hours only
  metadata.Say("events/recommendations/rebalance", R"({"noticeTime": "2026-12-01T08:20:00Z"})");
  ASSERT_TRUE(Wait(notice));
  EXPECT_EQ(notice.Take().rebalance_noticed, *ParseIso8601("2026-12-01T08:20:00Z"));
  metadata.Say("spot/instance-action",
               R"({"action": "terminate", "time": "2026-12-01T08:22:00Z"})");
  ASSERT_TRUE(Wait(notice));
  const SpotNotice::Seen seen = notice.Take();
  EXPECT_EQ(seen.ends_at, *ParseIso8601("2026-12-01T08:22:00Z"));
  EXPECT_EQ(seen.action, "terminate");
  EXPECT_EQ(seen.problem, "");
  EXPECT_EQ(metadata.tokens(), 2);
}

TEST(SpotNotice, ANoticeThatCannotBeReadIsTold) {
  Metadata metadata;
  metadata.Say("spot/instance-action", R"({"action": "terminate"})");
  SpotNotice notice(metadata.url(), Millis(5));
  notice.Start();
  ASSERT_TRUE(Wait(notice));
  EXPECT_THAT(notice.Take().problem, HasSubstr("'time'"));
  metadata.Say("spot/instance-action", R"({"action": "stop", "time": "2026-12-01T08:22:00Z"})");
  ASSERT_TRUE(Wait(notice));
  EXPECT_TRUE(notice.Take().ends_at);
}

TEST(SpotNotice, AServiceThatIsNotThereIsToldOnce) {
  SpotNotice notice("http://127.0.0.1:1", Millis(1));
  notice.Start();
  ASSERT_TRUE(Wait(notice));
  EXPECT_NE(notice.Take().problem, "");
  notice.Stop();
  EXPECT_FALSE(notice.Take().ends_at);
}

}  // namespace
}  // namespace sabia::agent
