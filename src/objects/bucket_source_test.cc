#include "objects/bucket_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"
#include "objects/input_listing.h"
#include "objects/testing/store_fixture.h"
#include "wire/dispatcher.h"
#include "wire/http_server.h"
#include "wire/testing/memory_s3.h"

namespace sabia::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An embedded store, and a small S3 outside with the buckets that it has objects of.
class BucketsTest : public testing::StoreFixture {
 protected:
  BucketsTest() {
    dispatcher_.SetReady(true);
    wire::HttpServerOptions options;
    options.listeners.push_back({"127.0.0.1", 0, nullptr});
    server_ = std::move(*wire::HttpServer::Start(options, dispatcher_, real_clock_));
    url_ = fmt::format("http://127.0.0.1:{}", server_->port(0));
    options_.file = home_.path() / "external-s3.conf";
    options_.environment.access_key_id = "AKIAROOTROOTROOTROOT";
    options_.environment.secret_access_key = std::string(40, 's');
    options_.patience = Millis(200);
  }

  void Configure(const std::string& text) { std::ofstream(options_.file) << text; }
  Buckets& Open() {
    if (!buckets_) buckets_ = std::move(*Buckets::Open(*store_, options_, files_, manual_));
    return *buckets_;
  }
  // "embedded", or the endpoint.
  std::string Where(const std::string& bucket) {
    const auto endpoint = Open().External(bucket);
    if (!endpoint) return endpoint.error().message;
    return *endpoint ? (*endpoint)->url : "embedded";
  }
  std::vector<std::string> Paths(const std::string& uri, bool manifest = false) {
    const auto files =
        ListInput([this](const std::string& bucket) { return Open().Source(bucket); },
                  {manifest ? InputSource::Type::kManifest : InputSource::Type::kPrefix, uri});
    std::vector<std::string> out;
    if (!files) return {files.error().message};
    for (const InputFile& file : *files) {
      out.push_back(file.path + " " + file.bucket + "/" + file.object.key + " " + file.object.etag);
    }
    return out;
  }

  env::TemporaryDirectory home_;
  env::PosixFiles files_;
  env::PosixClock real_clock_;
  env::ManualClock manual_;
  wire::CredentialAuthority authority_{{"AKIAROOTROOTROOTROOT", std::string(40, 's')},
                                       "123456789012"};
  wire::ActionTable actions_;
  wire::MemoryS3 s3_;
  env::SeededRandom dice_{5};
  wire::Dispatcher dispatcher_{{actions_, s3_, authority_, real_clock_, dice_}, {}};
  std::unique_ptr<wire::HttpServer> server_;
  std::string url_;
  BucketsOptions options_;
  std::unique_ptr<Buckets> buckets_;
};

TEST_F(BucketsTest, WithoutAFileEverythingIsEmbedded) {
  ASSERT_TRUE(store_->CreateBucket("mine"));
  EXPECT_EQ(Where("mine"), "embedded");
  EXPECT_EQ(Where("nowhere"), "embedded");
  EXPECT_EQ((*Open().Source("nowhere"))->CheckBucket().error().code, ErrorCode::kNotFound);
}

TEST_F(BucketsTest, ASectionGoesBeforeTheStoreAndTheStoreBeforeTheDefault) {
  Configure("[default]\nendpoint = http://default\n[bucket both]\nendpoint = http://both\n");
  ASSERT_TRUE(store_->CreateBucket("both"));
  ASSERT_TRUE(store_->CreateBucket("mine"));
  EXPECT_EQ(Where("both"), "http://both");
  EXPECT_EQ(Where("mine"), "embedded");
  EXPECT_EQ(Where("other"), "http://default");
}

TEST_F(BucketsTest, AChangedFileIsReadAgainAndABadOneLeavesWhatWas) {
  EXPECT_EQ(Where("other"), "embedded");
  Configure("[default]\nendpoint = http://one\n");
  EXPECT_EQ(Where("other"), "embedded");  // looked at less than a second ago
  manual_.Advance(Millis(1'000));
  EXPECT_EQ(Where("other"), "http://one");
  Configure("[default]\nendpoint = nonsense\n");
  manual_.Advance(Millis(1'000));
  EXPECT_EQ(Where("other"), "http://one");
  const auto opened = Buckets::Open(*store_, options_, files_, manual_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("external-s3.conf': section '[default]'"));
}

TEST_F(BucketsTest, ChannelsAreListedOutside) {
  Configure("[bucket outside]\nendpoint = " + url_ + "\n");
  for (const char* key : {"p/a", "p/b", "p/c/d", "p/e/", "q"}) {
    s3_.objects[std::string("/outside/") + key] =
        std::string_view(key).ends_with('/') ? "" : "data";
  }
  s3_.objects["/outside/m"] = R"([{"prefix":"s3://outside/p/"},"a","c/d"])";
  EXPECT_THAT(Paths("s3://outside/p/"),
              ElementsAre("a outside/p/a e", "b outside/p/b e", "c/d outside/p/c/d e"));
  EXPECT_THAT(Paths("s3://outside/m", true),
              ElementsAre("a outside/p/a e1", "c/d outside/p/c/d e1"));
  EXPECT_THAT(Paths("s3://outside/none"), ElementsAre(HasSubstr("matches no object")));
  EXPECT_THAT(Paths("s3://outside/none", true), ElementsAre(HasSubstr("NoSuchKey")));
}

TEST_F(BucketsTest, AnEndpointThatIsAwayOrRefusesIsNamed) {
  options_.environment.secret_access_key = "wrong";
  Configure("[bucket refused]\nendpoint = " + url_ +
            "\n[bucket away]\nendpoint = http://127.0.0.1:1\n");
  const Status refused = (*Open().Source("refused"))->List({}).map([](const Listing&) {});
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  EXPECT_THAT(refused.error().message, HasSubstr(url_));
  const Status away = (*Open().Source("away"))->CheckBucket();
  EXPECT_EQ(away.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(away.error().message, HasSubstr("http://127.0.0.1:1"));
}

}  // namespace
}  // namespace sabia::objects
