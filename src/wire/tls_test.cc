#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "wire/certificate.h"
#include "wire/http_client.h"
#include "wire/testing/raw_client.h"
#include "wire/tls_authority.h"

namespace sabia::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TlsAuthorityTest : public ::testing::Test {
 protected:
  TlsAuthorityTest() {
    options_.directory = home_.path() / "tls";
    options_.system_bundle = home_.path() / "system.crt";
    CHECK(files_.WriteAtomically(options_.system_bundle, "system authorities", {}).has_value());
  }
  TlsFiles Ensure() {
    auto files = TlsAuthority(files_, clock_, random_).Ensure(options_);
    CHECK_MSG(files.has_value(), files.error().message);
    return *files;
  }
  std::string Read(const env::Path& path) { return *files_.Read(path, 1 << 20); }

  env::TemporaryDirectory home_;
  env::PosixFiles files_;
  env::ManualClock clock_{env::PosixClock().Wall()};
  env::SeededRandom random_{11};
  TlsAuthorityOptions options_;
};

TEST_F(TlsAuthorityTest, MakesPrivateKeysAndABundleOfSystemAndOwn) {
  const TlsFiles files = Ensure();
  for (const char* key : {"ca.key", "server.key"}) {
    EXPECT_EQ(std::filesystem::status(options_.directory / key).permissions(),
              std::filesystem::perms(0600));
  }
  EXPECT_EQ(Read(files.bundle), "system authorities\n" + Read(files.authority));
}

TEST_F(TlsAuthorityTest, KeepsWhatIsGood) {
  const TlsFiles files = Ensure();
  const std::string authority = Read(files.authority);
  const std::string server = Read(files.server.certificate);
  clock_.Advance(std::chrono::hours(24 * 300));
  Ensure();
  EXPECT_EQ(Read(files.authority), authority);
  EXPECT_EQ(Read(files.server.certificate), server);
}

TEST_F(TlsAuthorityTest, RenewsTheServerNearItsEndUnderTheSameAuthority) {
  const TlsFiles files = Ensure();
  const std::string authority = Read(files.authority);
  const std::string server = Read(files.server.certificate);
  clock_.Advance(std::chrono::hours(24 * 340));
  Ensure();
  EXPECT_EQ(Read(files.authority), authority);
  EXPECT_NE(Read(files.server.certificate), server);
}

TEST_F(TlsAuthorityTest, RenewsTheAuthorityBeforeAServerCouldOutliveIt) {
  const TlsFiles files = Ensure();
  const std::string authority = Read(files.authority);
  clock_.Advance(std::chrono::hours(24 * 3300));
  Ensure();
  EXPECT_NE(Read(files.authority), authority);
  EXPECT_THAT(Read(files.bundle), HasSubstr(Read(files.authority)));
  const auto pair = ParseKeyPair(Read(files.authority), Read(options_.directory / "ca.key"));
  const auto server = ParseKeyPair(Read(files.server.certificate), Read(files.server.key));
  EXPECT_TRUE(IsIssuedBy(*server->certificate, *pair));
}

TEST_F(TlsAuthorityTest, RepairsAHalfWrittenHome) {
  const TlsFiles files = Ensure();
  ASSERT_TRUE(files_.WriteAtomically(files.server.key, "garbage", {}));
  Ensure();
  EXPECT_TRUE(MakeTlsTransports(files.server));
  ASSERT_TRUE(files_.RemoveTree(files.authority));
  Ensure();
  EXPECT_TRUE(MakeTlsTransports(files.server));
}

TEST_F(TlsAuthorityTest, CoversTheNamesThatClientsUse) {
  options_.more_names = {"build.example.org", "10.1.2.3"};
  const TlsFiles files = Ensure();
  const auto pair = ParseKeyPair(Read(files.server.certificate), Read(files.server.key));
  ASSERT_TRUE(pair);
  EXPECT_TRUE(
      HasNames(*pair->certificate,
               {"localhost", "127.0.0.1", "::1", "sts.us-west-2.amazonaws.com", "sts.amazonaws.com",
                "bucket.s3.us-west-2.amazonaws.com", "build.example.org", "10.1.2.3"}));
  EXPECT_FALSE(HasNames(*pair->certificate, {"example.com"}));
  options_.more_names = {"other.example.org"};
  Ensure();
  EXPECT_TRUE(
      HasNames(*ParseKeyPair(Read(files.server.certificate), Read(files.server.key))->certificate,
               {"other.example.org"}));
}

TEST(MakeTlsTransports, NamesTheFileThatIsWrong) {
  const auto made = MakeTlsTransports({"/nowhere/cert.pem", "/nowhere/key.pem"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("/nowhere/cert.pem"));
}

class Hello final : public Handler {
 public:
  void Handle(Exchange& exchange) override {
    auto body = ReadAll(exchange.body(), 64 << 20);
    if (exchange.head().raw_path == "/file") {
      (void)exchange.Begin(200, {}, file_size);
      (void)exchange.SendFile(file.get(), 0, file_size);
      return;
    }
    (void)exchange.Send(
        {200, {}, fmt::format("tls={} {}", exchange.head().tls, body ? body->size() : 0)});
  }
  env::UniqueFd file;
  std::uint64_t file_size = 0;
};

class TlsServerTest : public TlsAuthorityTest {
 protected:
  void Serve() {
    files_of_tls_ = Ensure();
    HttpServerOptions options;
    options.limits.header_timeout = Millis(300);
    options.tick = Millis(10);
    options.listeners.resize(2);
    options.listeners[1].transports = *MakeTlsTransports(files_of_tls_.server);
    server_ = *HttpServer::Start(options, hello_, real_clock_);
  }
  std::string Url(const std::string& path) {
    return fmt::format("https://localhost:{}{}", server_->port(1), path);
  }

  env::PosixClock real_clock_;
  TlsFiles files_of_tls_;
  Hello hello_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(TlsServerTest, ServesClientsThatTrustTheBundle) {
  Serve();
  HttpClient client({.ca_bundle = files_of_tls_.authority});
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Perform({.url = Url("/")});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "tls=true 0");
  }
  const std::string large(3 << 20, 'x');
  const auto posted = client.Perform({.method = "POST", .url = Url("/"), .body = large});
  ASSERT_TRUE(posted) << posted.error().message;
  EXPECT_EQ(posted->body, "tls=true 3145728");
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(TlsServerTest, StrangersDoNotTrustIt) {
  Serve();
  HttpClient client({});
  const auto answer = client.Perform({.url = Url("/")});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("certificate"));
}

TEST_F(TlsServerTest, SendsFiles) {
  const env::Path path = home_.path() / "file";
  std::string content(2'000'003, 'a');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 >> 2);
  std::ofstream(path, std::ios::binary) << content;
  hello_.file = std::move(*env::OpenFile(path, 0));
  hello_.file_size = content.size();
  Serve();
  HttpClient client({.ca_bundle = files_of_tls_.authority});
  const auto answer = client.Perform({.url = Url("/file")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->body == content);
}

TEST_F(TlsServerTest, AStalledHandshakeIsCutAndNobodyElseWaits) {
  Serve();
  RawClient silent(server_->port(1));
  RawClient half(server_->port(1));
  half.Send(std::string("\x16\x03\x01\x02", 4));
  RawClient plain(server_->port(1));
  plain.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  HttpClient client({.ca_bundle = files_of_tls_.authority});
  EXPECT_TRUE(client.Perform({.url = Url("/")}));
  plain.ReadToEnd();
  half.ReadToEnd();
  silent.ReadToEnd();
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(half.closed());
  EXPECT_TRUE(plain.closed());
}

TEST_F(TlsServerTest, PlainAndTlsListenersServeSideBySide) {
  Serve();
  RawClient plain(server_->port(0));
  EXPECT_THAT(plain.Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace sabia::wire
