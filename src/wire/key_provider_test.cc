#include "wire/key_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <mutex>

#include "env/posix/posix_clock.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "wire/http_server.h"

namespace sabia::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Metadata services of both kinds.
class Metadata final : public Handler {
 public:
  void Handle(Exchange& exchange) override {
    const RequestHead& head = exchange.head();
    Response response;
    const std::lock_guard lock(mutex);
    ++requests;
    if (away) {
      response.status = 503;
    } else if (head.raw_path == "/latest/api/token") {
      const bool right = head.method == "PUT" &&
                         head.headers.Get("X-aws-ec2-metadata-token-ttl-seconds") == "21600";
      response.status = right ? 200 : 400;
      response.body = "session";
    } else if (head.raw_path.starts_with("/latest/") &&
               head.headers.Get("X-aws-ec2-metadata-token") != "session") {
      response.status = 401;
    } else if (head.raw_path == "/latest/meta-data/iam/security-credentials/") {
      response.body = "the-role\n";
    } else if (head.raw_path == "/latest/meta-data/iam/security-credentials/the-role") {
      response.body = Keys();
    } else if (head.raw_path == "/container" && head.headers.Get("Authorization") == "Bearer x") {
      response.body = Keys();
    } else {
      response.status = 404;
    }
    (void)exchange.Send(response);
  }
  std::string Keys() const {
    return R"({"Code":"Success","AccessKeyId":"ASIA)" + std::to_string(number) +
           R"(","SecretAccessKey":"very-secret","Token":"t","Expiration":")" + expires + R"("})";
  }

  std::mutex mutex;
  int requests = 0;
  int number = 1;
  bool away = false;
  std::string expires = "2023-11-14T23:00:00Z";  // the manual clock starts at 22:13:20
};

class KeyProviderTest : public ::testing::Test {
 protected:
  KeyProviderTest() {
    HttpServerOptions options;
    options.listeners.push_back({"127.0.0.1", 0, nullptr});
    server_ = std::move(*HttpServer::Start(options, metadata_, real_clock_));
    url_ = fmt::format("http://127.0.0.1:{}", server_->port(0));
  }
  std::string IdOf(KeyProvider& provider) {
    const auto keys = provider.Keys();
    return keys ? (*keys)->access_key_id : keys.error().message;
  }

  env::PosixClock real_clock_;
  env::ManualClock clock_;
  Metadata metadata_;
  std::unique_ptr<HttpServer> server_;
  std::string url_;
};

TEST_F(KeyProviderTest, AsksTheInstanceByVersionTwoAndRenewsBeforeTheEnd) {
  KeySource source;
  source.kind = KeySource::Kind::kInstance;
  source.url = url_;
  const auto provider = KeyProvider::Create(source, clock_);
  EXPECT_EQ(IdOf(*provider), "ASIA1");
  EXPECT_EQ((*provider->Keys())->session_token, "t");
  EXPECT_EQ(metadata_.requests, 3);
  clock_.Advance(Millis(40 * 60'000));
  EXPECT_EQ(IdOf(*provider), "ASIA1");
  EXPECT_EQ(metadata_.requests, 3);
  clock_.Advance(Millis(3 * 60'000));  // less than five minutes are left
  metadata_.away = true;
  EXPECT_EQ(IdOf(*provider), "ASIA1");
  clock_.Advance(Millis(11'000));
  metadata_.away = false;
  metadata_.number = 2;
  metadata_.expires = "2023-11-15T04:00:00Z";
  EXPECT_EQ(IdOf(*provider), "ASIA2");
}

TEST_F(KeyProviderTest, ExpiredKeysDoNotServe) {
  KeySource source;
  source.kind = KeySource::Kind::kInstance;
  source.url = url_;
  const auto provider = KeyProvider::Create(source, clock_);
  EXPECT_EQ(IdOf(*provider), "ASIA1");
  metadata_.away = true;
  clock_.Advance(Millis(60 * 60'000));
  EXPECT_THAT(IdOf(*provider),
              AllOf(HasSubstr("failed to get AWS credentials"), Not(HasSubstr("secret"))));
}

TEST_F(KeyProviderTest, AsksTheContainerWithItsToken) {
  env::TemporaryDirectory directory;
  std::ofstream(directory.path() / "token") << "Bearer x\n";
  KeySource source;
  source.kind = KeySource::Kind::kContainer;
  source.url = url_ + "/container";
  source.token_file = (directory.path() / "token").native();
  EXPECT_EQ(IdOf(*KeyProvider::Create(source, clock_)), "ASIA1");
  source.token_file.clear();
  EXPECT_THAT(IdOf(*KeyProvider::Create(source, clock_)), HasSubstr("404"));
}

TEST_F(KeyProviderTest, RefusedKeysAreAskedForAgainNowAndThen) {
  KeySource source;
  source.kind = KeySource::Kind::kContainer;
  source.url = url_ + "/container";
  source.token = "Bearer x";
  const auto provider = KeyProvider::Create(source, clock_);
  const AwsKeys first = **provider->Keys();
  EXPECT_FALSE(provider->Refused(first));  // just asked
  clock_.Advance(Millis(10'000));
  metadata_.number = 2;
  EXPECT_TRUE(provider->Refused(first));
  EXPECT_EQ(IdOf(*provider), "ASIA2");
  EXPECT_TRUE(provider->Refused(first));  // there are others by now
  source.kind = KeySource::Kind::kStatic;
  EXPECT_FALSE(KeyProvider::Create(source, clock_)->Refused(first));
}

}  // namespace
}  // namespace sabia::wire
