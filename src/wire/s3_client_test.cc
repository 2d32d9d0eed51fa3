#include "wire/s3_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>

#include <fstream>
#include <thread>

#include "env/posix/posix_clock.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "wire/dispatcher.h"
#include "wire/http_server.h"
#include "wire/json_client.h"
#include "wire/testing/bytes.h"
#include "wire/testing/memory_s3.h"

namespace sabia::wire {
namespace {

using ::testing::HasSubstr;

// The real client, over a real socket, against the real front door; behind it an S3 in memory.
class S3ClientTest : public ::testing::Test {
 protected:
  S3ClientTest() {
    options_.patience = Millis(20'000);
    dispatcher_.SetReady(true);
    StartServer(0);
  }

  void StartServer(std::uint16_t port) {
    HttpServerOptions options;
    options.listeners.push_back({"127.0.0.1", port, nullptr});
    auto server = HttpServer::Start(options, dispatcher_, clock_);
    CHECK_MSG(server.has_value(), server.error().message);
    server_ = std::move(*server);
    endpoint_.url = fmt::format("http://127.0.0.1:{}", server_->port(0));
  }
  S3Client& client() {
    if (!client_) client_ = *S3Client::Create(endpoint_, options_, clock_);
    return *client_;
  }
  env::Path Write(const std::string& name, const std::string& content) {
    std::ofstream(directory_.path() / name, std::ios::binary) << content;
    return directory_.path() / name;
  }

  env::PosixClock clock_;
  env::SeededRandom random_{5};
  env::TemporaryDirectory directory_;
  CredentialAuthority authority_{{"AKIAROOTROOTROOTROOT", std::string(40, 's')}, "123456789012"};
  ActionTable actions_;
  MemoryS3 s3_;
  Dispatcher dispatcher_{{actions_, s3_, authority_, clock_, random_}, {}};
  std::unique_ptr<HttpServer> server_;
  S3Endpoint endpoint_{"", "us-west-2", "AKIAROOTROOTROOTROOT", std::string(40, 's'), ""};
  S3ClientOptions options_;
  std::unique_ptr<S3Client> client_;
};

TEST_F(S3ClientTest, WritesReadsAndDeletesUnderAwkwardKeys) {
  const S3Location where{"bucket", "a b/+%2F=&?#~é/x"};
  ASSERT_TRUE(client().Put(where, "content"));
  EXPECT_EQ(s3_.objects.begin()->first, "/bucket/a b/+%2F=&?#~é/x");
  EXPECT_EQ(client().Get(where, 100), "content");
  EXPECT_EQ(client().Get(where, 3).error().code, ErrorCode::kResourceExhausted);
  ASSERT_TRUE(client().Delete(where));
  const auto gone = client().Get(where, 100);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(gone.error().message, HasSubstr("NoSuchKey"));
  ASSERT_TRUE(client().Put(where, ""));
  EXPECT_EQ(client().Get(where, 0), "");
}

TEST_F(S3ClientTest, ListsOverAllPages) {
  for (int i = 0; i < 5; ++i) s3_.objects[fmt::format("/bucket/p/{} é&", i)] = std::string(i, 'x');
  s3_.objects["/bucket/q"] = "no";
  const auto objects = client().List("bucket", "p/");
  ASSERT_TRUE(objects) << objects.error().message;
  ASSERT_EQ(objects->size(), 5u);
  EXPECT_EQ((*objects)[4].key, "p/4 é&");
  EXPECT_EQ((*objects)[4].size, 4u);
  EXPECT_EQ((*objects)[4].etag, "\"e\"");
  EXPECT_EQ(FormatIso8601Seconds((*objects)[0].modified), "2024-01-02T03:04:05Z");
  EXPECT_TRUE(client().List("bucket", "nothing/")->empty());
}

TEST_F(S3ClientTest, OutlastsFailuresAndThrottling) {
  s3_.faults.answer_500 = 3;
  s3_.faults.slow_down = 2;
  EXPECT_TRUE(client().Put({"bucket", "k"}, "v"));
  EXPECT_EQ(s3_.requests, 6);
}

TEST_F(S3ClientTest, GivesUpWhenPatienceIsOver) {
  s3_.faults.answer_500 = 1'000'000;
  options_.patience = Millis(150);
  const Status put = client().Put({"bucket", "k"}, "v");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::kUnavailable);
  EXPECT_GE(s3_.requests, 2);
}

TEST_F(S3ClientTest, SurvivesARestartOfTheServer) {
  ASSERT_TRUE(client().Put({"bucket", "k"}, "before"));
  const std::uint16_t port = server_->port(0);
  server_.reset();
  std::thread restart([&] {
    pollfd nothing{-1, 0, 0};
    ::poll(&nothing, 1, 120);  // the client meets refused connections meanwhile
    StartServer(port);
  });
  EXPECT_EQ(client().Get({"bucket", "k"}, 100), "before");
  restart.join();
}

TEST_F(S3ClientTest, FollowsAServerThatComesBackElsewhere) {
  std::mutex mutex;
  std::string where = endpoint_.url;  // "" while it is away
  endpoint_.locate = [&]() -> Result<std::string> {
    const std::lock_guard lock(mutex);
    if (where.empty()) return Fail(ErrorCode::kUnavailable, "away");
    return where;
  };
  ASSERT_TRUE(client().Put({"bucket", "k"}, "before"));
  {
    const std::lock_guard lock(mutex);
    where.clear();
  }
  const std::unique_ptr<HttpServer> old = std::move(server_);  // still answers at its port
  std::thread restart([&] {
    while (s3_.requests < 1) std::this_thread::yield();
    StartServer(0);
    const std::lock_guard lock(mutex);
    where = endpoint_.url;
  });
  EXPECT_EQ(client().Get({"bucket", "k"}, 100), "before");
  restart.join();
  EXPECT_NE(old->port(0), server_->port(0));
  EXPECT_EQ(server_->stats().connections, 1u);
}

TEST_F(S3ClientTest, DownloadsResumeWhereTheyBroke) {
  const std::string content = Noise(3 << 20);
  s3_.objects["/bucket/big"] = content;
  s3_.faults.cut_get_after = 2;
  const env::Path target = directory_.path() / "big";
  ASSERT_TRUE(client().Download({"bucket", "big"}, target));
  EXPECT_TRUE(Content(target) == content);
  EXPECT_THAT(s3_.last_range, HasSubstr("bytes="));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "big.sabia-part"));
}

TEST_F(S3ClientTest, ADamagedDownloadIsNotPutInPlace) {
  s3_.objects["/bucket/k"] = Noise(100'000);
  s3_.faults.wrong_bytes = 1;
  const env::Path target = Write("k", "old");
  const Status status = client().Download({"bucket", "k"}, target);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(Content(target), "old");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "k.sabia-part"));
  EXPECT_EQ(client().Download({"bucket", "none"}, target).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(client().Download({"bucket", "k"}, "/nowhere/at/all").error().code,
            ErrorCode::kNotFound);
}

TEST_F(S3ClientTest, UploadsWholeFilesAndParts) {
  const std::string content = Noise((11 << 20) + 17);
  ASSERT_TRUE(client().Upload(Write("small", "abc"), {"bucket", "small"}));
  ASSERT_TRUE(client().Upload(Write("empty", ""), {"bucket", "empty"}));
  ASSERT_TRUE(client().Upload(Write("whole", content), {"bucket", "whole"}));
  options_.multipart_threshold = 6 << 20;
  options_.part_size = 5 << 20;
  client_.reset();
  s3_.faults.answer_500 = 1;
  const Status parts = client().Upload(Write("parts", content), {"bucket", "parts"});
  ASSERT_TRUE(parts) << parts.error().message;
  EXPECT_EQ(s3_.objects["/bucket/small"], "abc");
  EXPECT_EQ(s3_.objects["/bucket/empty"], "");
  EXPECT_TRUE(s3_.objects["/bucket/whole"] == content);
  EXPECT_TRUE(s3_.objects["/bucket/parts"] == content);
  EXPECT_EQ(client().Upload(directory_.path(), {"bucket", "d"}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(client().Upload(directory_.path() / "no", {"bucket", "d"}).error().code,
            ErrorCode::kNotFound);
}

TEST_F(S3ClientTest, UploadsAskForEncryptionWholeAndInParts) {
  S3Target to("bucket", "whole");
  to.kms_key = "alias/mine";
  ASSERT_TRUE(client().Upload(Write("whole", "abc"), to));
  options_.multipart_threshold = 5 << 20;
  options_.part_size = 5 << 20;
  client_.reset();
  to.key = "parts";
  ASSERT_TRUE(client().Upload(Write("parts", Noise(6 << 20)), to));
  ASSERT_TRUE(client().Upload(Write("plain", "abc"), {"bucket", "plain"}));
  const std::map<std::string, std::string> asked = {{"/bucket/parts", "alias/mine"},
                                                    {"/bucket/whole", "alias/mine"}};
  EXPECT_EQ(s3_.kms_keys, asked);
}

TEST_F(S3ClientTest, ALostAnswerToCompleteIsNotAFailure) {
  options_.multipart_threshold = 5 << 20;
  options_.part_size = 5 << 20;
  s3_.faults.lose_complete = 1;
  const std::string content = Noise(6 << 20);
  const Status status = client().Upload(Write("f", content), {"bucket", "f"});
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_TRUE(s3_.objects["/bucket/f"] == content);
  EXPECT_EQ(s3_.aborts, 0);
}

TEST_F(S3ClientTest, AWrongKeyIsDeniedAtOnce) {
  endpoint_.secret_access_key = "wrong";
  const auto answer = client().Get({"bucket", "k"}, 10);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kDenied);
  EXPECT_THAT(answer.error().message, HasSubstr("SignatureDoesNotMatch"));
  EXPECT_EQ(server_->stats().requests, 1u);
}

TEST_F(S3ClientTest, ABadEndpointIsNamed) {
  endpoint_.url = "ftp://x";
  EXPECT_EQ(S3Client::Create(endpoint_, options_, clock_).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(S3ClientTest, ReadsRangesOfOneVersionWhateverBreaks) {
  const std::string content = Noise(3 << 20);
  s3_.objects["/bucket/big"] = content;
  const auto read = [&](std::uint64_t offset, std::uint64_t length) {
    std::string got;
    const Status status =
        client().Read({.from = {"bucket", "big"}, .etag = "e1", .offset = offset, .length = length},
                      [&](std::string_view data) -> Status {
                        got += data;
                        return {};
                      });
    return status ? got : status.error().message;
  };
  EXPECT_TRUE(read(0, 1) == content.substr(0, 1));
  EXPECT_TRUE(read(100, 1'000'000) == content.substr(100, 1'000'000));
  s3_.faults.cut_get_after = 3;
  s3_.faults.slow_down = 1;
  EXPECT_TRUE(read(5, 2'000'000) == content.substr(5, 2'000'000));
  EXPECT_THAT(s3_.last_range, HasSubstr("-2000004"));
  EXPECT_THAT(read(3 << 20, 5), HasSubstr("another one"));
  EXPECT_THAT(read((3 << 20) - 2, 5), HasSubstr("were asked for"));
  s3_.SetEtag("\"e2\"");
  EXPECT_THAT(read(0, 5), HasSubstr("another one by now"));
}

TEST_F(S3ClientTest, ASinkThatFailsAtTheLastBytesFailsTheRead) {
  s3_.objects["/bucket/k"] = Noise(100'000);
  std::size_t taken = 0;
  const Status read =
      client().Read({.from = {"bucket", "k"}, .etag = "e1", .offset = 0, .length = 100'000},
                    [&](std::string_view data) -> Status {
                      if (taken + data.size() == 100'000)
                        return Fail(ErrorCode::kTimeout, "enough");
                      taken += data.size();
                      return {};
                    });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(read.error().message, HasSubstr("enough"));
}

TEST_F(S3ClientTest, AWholeObjectThatIsReadIsVerified) {
  s3_.objects["/bucket/k"] = Noise(100'000);
  std::string got;
  const auto read = [&] {
    got.clear();
    return client().Read(
        {.from = {"bucket", "k"}, .etag = "\"e1\"", .offset = 0, .length = 100'000, .whole = true},
        [&](std::string_view data) -> Status {
          got += data;
          return {};
        });
  };
  s3_.faults.cut_get_after = 1;  // verified over both attempts
  ASSERT_TRUE(read());
  EXPECT_TRUE(got == s3_.objects["/bucket/k"]);
  s3_.faults.wrong_bytes = 1;
  EXPECT_EQ(read().error().code, ErrorCode::kCorrupt);
}

TEST_F(S3ClientTest, LooksAtObjectsAndPages) {
  s3_.objects["/bucket/p/a"] = "12345";
  s3_.objects["/bucket/p/b"] = "1";
  s3_.objects["/bucket/p/c"] = "";
  const auto object = client().Head({"bucket", "p/a"});
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->size, 5u);
  EXPECT_EQ(object->etag, "\"e1\"");
  EXPECT_EQ(client().Head({"bucket", "none"}).error().code, ErrorCode::kNotFound);
  const auto page = client().ListPage({.bucket = "bucket", .prefix = "p/"});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->objects.size(), 2u);
  EXPECT_FALSE(page->next.empty());
  const auto rest = client().ListPage({.bucket = "bucket", .prefix = "p/", .start_after = "p/b"});
  ASSERT_TRUE(rest) << rest.error().message;
  ASSERT_EQ(rest->objects.size(), 1u);
  EXPECT_EQ(rest->objects[0].key, "p/c");
}

TEST_F(S3ClientTest, WaitsAsLongAsItIsAskedTo) {
  s3_.faults.slow_down = 1;
  s3_.retry_after = "1";
  const MonoTime before = clock_.Mono();
  EXPECT_TRUE(client().Put({"bucket", "k"}, "v"));
  EXPECT_GE(clock_.Mono() - before, Millis(1'000));
  s3_.faults.slow_down = 1;
  s3_.retry_after = "3000";  // longer than patience: not waited for
  EXPECT_EQ(client().Put({"bucket", "k"}, "v").error().code, ErrorCode::kUnavailable);
}

TEST_F(S3ClientTest, SignsWithKeysThatAreRenewedWhenRefused) {
  const auto profile = [&](const std::string& id) {
    std::ofstream(directory_.path() / "credentials")
        << "[p]\naws_access_key_id = " << id << "\naws_secret_access_key = " << std::string(40, 's')
        << "\n";
  };
  profile("AKIAOUTDATED");
  KeySource source;
  source.kind = KeySource::Kind::kProfile;
  source.credentials_file = (directory_.path() / "credentials").native();
  source.profile = "p";
  env::ManualClock manual;
  endpoint_.keys = KeyProvider::Create(source, manual);
  const auto refused = client().Put({"bucket", "k"}, "v");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("InvalidAccessKeyId"));
  profile("AKIAROOTROOTROOTROOT");
  manual.Advance(Millis(60'000));
  const Status put = client().Put({"bucket", "k"}, "v");
  EXPECT_TRUE(put) << put.error().message;
}

TEST_F(S3ClientTest, FollowsTheServersClockWhenOursIsWrong) {
  s3_.objects["/bucket/k"] = "v";
  env::ManualClock years_ago;
  const auto client = *S3Client::Create(endpoint_, options_, years_ago);
  EXPECT_TRUE(client->Head({"bucket", "k"}));  // whose refusal has no body
  EXPECT_EQ(client->Get({"bucket", "k"}, 10), "v");
  EXPECT_EQ(server_->stats().requests, 3u);
  EXPECT_TRUE((*S3Client::Create(endpoint_, options_, years_ago))->Get({"bucket", "k"}, 10));
}

TEST_F(S3ClientTest, AddressesBucketsInTheHostAndSignsNothingForStrangers) {
  s3_.anonymous_may_read = true;
  s3_.objects["/k"] = "v";
  endpoint_.bucket_in_host = true;
  endpoint_.keys = KeyProvider::Create({}, clock_);
  endpoint_.url = fmt::format("http://localhost:{}", server_->port(0));
  const auto got = client().Get({"bucket", "k"}, 10);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "v");
  EXPECT_EQ(s3_.last_host, fmt::format("bucket.localhost:{}", server_->port(0)));
  s3_.objects["/my.bucket/k"] = "dotted";
  EXPECT_EQ(client().Get({"my.bucket", "k"}, 10), "dotted");
}

TEST_F(S3ClientTest, AnEndpointIsSchemeHostAndPortOnly) {
  for (const char* url : {"http://h/path", "http://u:p@h", "http://", "https://h?x", "h:9000"}) {
    const Status checked = CheckEndpointUrl(url);
    ASSERT_FALSE(checked) << url;
    EXPECT_EQ(checked.error().message.find("u:p"), std::string::npos);
  }
  EXPECT_TRUE(CheckEndpointUrl("https://h:9000/"));
}

TEST_F(S3ClientTest, TheJsonClientCallsExtensionsAndActions) {
  dispatcher_.AddExtension(
      "/-/echo", [](const CallContext&, const json::object& input) -> AwsResult<json::object> {
        if (input.empty()) return Refuse("ResourceNotFound", 404, "nothing said");
        return input;
      });
  const ServiceEndpoint endpoint{
      endpoint_.url, {endpoint_.access_key_id, endpoint_.secret_access_key, "", "us-west-2", ""}};
  const auto client = JsonClient::Create(endpoint, {}, clock_);
  ASSERT_TRUE(client);
  EXPECT_EQ(GetString(*(*client)->CallExtension("/-/echo", {{"a", "b"}}), "a"), "b");
  const auto missing = (*client)->CallExtension("/-/echo", {});
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message, "ResourceNotFound: nothing said");
  const auto action = (*client)->CallAction({"sagemaker", "SageMaker.DescribeModel"}, {});
  EXPECT_EQ(action.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(action.error().message, HasSubstr("DescribeModel"));
  server_.reset();
  EXPECT_EQ((*client)->CallExtension("/-/echo", {}).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace sabia::wire
