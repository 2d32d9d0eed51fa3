#include "s3/lifecycle.h"

#include <gmock/gmock.h>

#include "s3/lifecycle_runner.h"
#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Millis kDay{24 * 3600 * 1000};

std::string Document(const std::string& rule) {
  return "<LifecycleConfiguration>" + rule + "</LifecycleConfiguration>";
}
std::string Rule(const std::string& inner) {
  return "<Rule><Status>Enabled</Status>" + inner + "</Rule>";
}
std::string Refusal(const std::string& rule) {
  const auto parsed = ParseLifecycle(Document(rule), "id");
  return parsed ? "" : parsed.error().code;
}

constexpr const char* kFull =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<LifecycleConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    "<Rule><ID>logs</ID><Filter><And><Prefix>logs/</Prefix><Tag><Key>a</Key><Value>1</Value></Tag>"
    "<ObjectSizeGreaterThan>10</ObjectSizeGreaterThan>"
    "<ObjectSizeLessThan>20</ObjectSizeLessThan></And></Filter><Status>Enabled</Status>"
    "<Expiration><Days>3</Days></Expiration><NoncurrentVersionExpiration>"
    "<NewerNoncurrentVersions>2</NewerNoncurrentVersions><NoncurrentDays>5</NoncurrentDays>"
    "</NoncurrentVersionExpiration></Rule>"
    "<Rule><ID>old</ID><Prefix>p</Prefix><Status>Disabled</Status><Expiration>"
    "<Date>2030-01-01T00:00:00.000Z</Date></Expiration><AbortIncompleteMultipartUpload>"
    "<DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>"
    "<Rule><ID>markers</ID><Filter><Prefix></Prefix></Filter><Status>Enabled</Status>"
    "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration></Rule>"
    "</LifecycleConfiguration>";

TEST(S3Lifecycle, DocumentsGoThereAndBack) {
  const auto rules = ParseLifecycle(kFull, "");
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ(WriteLifecycle(*rules), kFull);
  const auto unnamed =
      ParseLifecycle(Document(Rule("<Filter/><Expiration><Days>1</Days></Expiration>")), "base");
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(unnamed->front().id, "base-1");
}

TEST(S3Lifecycle, BadDocumentsAreRefused) {
  const std::string days = "<Expiration><Days>1</Days></Expiration>";
  EXPECT_EQ(Refusal(""), "MalformedXML");
  EXPECT_EQ(Refusal(Rule(days)), "MalformedXML") << "neither Filter nor Prefix";
  EXPECT_EQ(Refusal(Rule("<Filter/>")), "InvalidRequest");
  EXPECT_EQ(Refusal("<Rule><Status>On</Status><Filter/>" + days + "</Rule>"), "MalformedXML");
  EXPECT_EQ(Refusal(Rule("<Filter/><Expiration><Days>0</Days></Expiration>")), "InvalidArgument");
  EXPECT_EQ(Refusal(Rule("<Filter/><Expiration><Date>2030-01-01T01:00:00Z</Date></Expiration>")),
            "InvalidArgument");
  EXPECT_EQ(Refusal(Rule("<Filter/><Expiration><Days>1</Days><ExpiredObjectDeleteMarker>true"
                         "</ExpiredObjectDeleteMarker></Expiration>")),
            "MalformedXML");
  EXPECT_EQ(Refusal(Rule("<Filter/><Transition/>" + days)), "NotImplemented");
  EXPECT_EQ(Refusal(Rule("<Filter/><NoncurrentVersionTransition/>" + days)), "NotImplemented");
  EXPECT_EQ(Refusal(Rule("<Filter><Tag><Key>a</Key><Value/></Tag></Filter>"
                         "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1"
                         "</DaysAfterInitiation></AbortIncompleteMultipartUpload>")),
            "InvalidRequest");
  EXPECT_EQ(Refusal(Rule("<Filter/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
                         "<NewerNoncurrentVersions>101</NewerNoncurrentVersions>"
                         "</NoncurrentVersionExpiration>")),
            "InvalidArgument");
  EXPECT_EQ(Refusal(Rule("<ID>a</ID><Filter/>" + days) + Rule("<ID>a</ID><Filter/>" + days)),
            "InvalidArgument");
  EXPECT_EQ(Refusal(Rule("<Filter><And><Prefix>a</Prefix></And></Filter>" + days)), "MalformedXML");
}

TEST(S3Lifecycle, AnActionIsDueAtTheMidnightAfterItsDays) {
  const WallTime made = *ParseIso8601("2014-01-15T10:30:00Z");
  EXPECT_EQ(FormatIso8601Seconds(DueAfter(made, 3)), "2014-01-19T00:00:00Z");
  EXPECT_EQ(FormatIso8601Seconds(DueAfter(*ParseIso8601("2014-01-15T00:00:00Z"), 1)),
            "2014-01-17T00:00:00Z");
}

class LifecycleTest : public testing::S3Fixture {
 protected:
  LifecycleWork Apply(const std::string& rule) {
    const auto rules = ParseLifecycle(Document(rule), "r");
    EXPECT_TRUE(rules) << rules.error().message;
    const auto work = ApplyLifecycle(*store_, "bkt", *rules, clock_.Wall());
    EXPECT_TRUE(work) << work.error().message;
    return *work;
  }
  bool Exists(const std::string& key) { return store_->Head("bkt", key).has_value(); }
};

TEST_F(LifecycleTest, ObjectsExpireByAgePrefixSizeAndTags) {
  ASSERT_TRUE(Put("bkt", "logs/old", "0123456789"));
  ASSERT_TRUE(Put("bkt", "logs/tagged", "0123456789", {.tags = {{"keep", "no"}}}));
  ASSERT_TRUE(Put("bkt", "logs/small", "x"));
  ASSERT_TRUE(Put("bkt", "other", "0123456789"));
  clock_.Advance(2 * kDay);
  ASSERT_TRUE(Put("bkt", "logs/new", "0123456789"));
  const std::string tagged = Rule(
      "<Filter><And><Prefix>logs/</Prefix><Tag><Key>keep</Key><Value>no</Value></Tag></And>"
      "</Filter><Expiration><Days>1</Days></Expiration>");
  EXPECT_EQ(Apply(tagged).expired, 1U);
  EXPECT_FALSE(Exists("logs/tagged"));
  const std::string rule = Rule(
      "<Filter><And><Prefix>logs/</Prefix><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>"
      "</And></Filter><Expiration><Days>1</Days></Expiration>");
  EXPECT_EQ(Apply(rule).expired, 1U);
  EXPECT_EQ(Apply(rule).expired, 0U);
  EXPECT_FALSE(Exists("logs/old"));
  EXPECT_TRUE(Exists("logs/small"));
  EXPECT_TRUE(Exists("logs/new"));
  EXPECT_TRUE(Exists("other"));
  EXPECT_EQ(Apply("<Rule><Status>Disabled</Status><Filter/><Expiration><Days>1</Days></Expiration>"
                  "</Rule>")
                .expired,
            0U);
}

TEST_F(LifecycleTest, ADateExpiresEverythingOnceItHasCome) {
  ASSERT_TRUE(Put("bkt", "k", "x"));
  const auto rule = [](const std::string& date) {
    return Rule("<Filter/><Expiration><Date>" + date + "</Date></Expiration>");
  };
  EXPECT_EQ(Apply(rule("2023-11-15T00:00:00Z")).expired, 0U);
  EXPECT_EQ(Apply(rule("2023-11-14T00:00:00Z")).expired, 1U);
  EXPECT_FALSE(Exists("k"));
}

TEST_F(LifecycleTest, VersionsAreHiddenAndOldOnesRemoved) {
  ASSERT_TRUE(store_->SetVersioning("bkt", Versioning::kEnabled));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Put("bkt", "k", std::to_string(i)));
  clock_.Advance(3 * kDay);
  const std::string noncurrent =
      "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
      "<NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>";
  EXPECT_EQ(Apply(Rule("<Filter/>" + noncurrent)).versions, 1U) << "two are kept";
  const LifecycleWork hidden = Apply(Rule("<Filter/><Expiration><Days>1</Days></Expiration>"));
  EXPECT_EQ(hidden.expired, 1U);
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(store_->ListVersions("bkt", {})->versions.size(), 4U) << "a marker and three versions";
  clock_.Advance(3 * kDay);
  const std::string all =
      "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
      "</NoncurrentVersionExpiration>";
  EXPECT_EQ(Apply(Rule("<Filter/>" + all)).versions, 3U);
  EXPECT_EQ(Apply(Rule("<Filter/><Expiration><ExpiredObjectDeleteMarker>true"
                       "</ExpiredObjectDeleteMarker></Expiration>"))
                .markers,
            1U);
  EXPECT_TRUE(store_->ListVersions("bkt", {})->versions.empty());
}

TEST_F(LifecycleTest, AMarkerThatHidesVersionsStays) {
  ASSERT_TRUE(store_->SetVersioning("bkt", Versioning::kEnabled));
  ASSERT_TRUE(Put("bkt", "k", "x"));
  ASSERT_TRUE(store_->Delete("bkt", "k"));
  EXPECT_EQ(Apply(Rule("<Filter/><Expiration><ExpiredObjectDeleteMarker>true"
                       "</ExpiredObjectDeleteMarker></Expiration>"))
                .markers,
            0U);
}

TEST_F(LifecycleTest, ManyPagesOfVersions) {
  ASSERT_TRUE(store_->SetVersioning("bkt", Versioning::kEnabled));
  constexpr std::size_t kVersions = 1005;
  for (std::size_t i = 0; i < kVersions; ++i) ASSERT_TRUE(store_->Delete("bkt", "k"));
  clock_.Advance(3 * kDay);
  EXPECT_EQ(Apply(Rule("<Filter/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
                       "<NewerNoncurrentVersions>3</NewerNoncurrentVersions>"
                       "</NoncurrentVersionExpiration>"))
                .versions,
            kVersions - 1 - 3);
}

TEST_F(LifecycleTest, UploadsAreAborted) {
  ASSERT_TRUE(store_->CreateMultipart("bkt", "a", {}));
  clock_.Advance(3 * kDay);
  ASSERT_TRUE(store_->CreateMultipart("bkt", "b", {}));
  const std::string rule = Rule(
      "<Filter/><AbortIncompleteMultipartUpload><DaysAfterInitiation>2"
      "</DaysAfterInitiation></AbortIncompleteMultipartUpload>");
  EXPECT_EQ(Apply(rule).aborted, 1U);
  EXPECT_EQ(store_->ListMultiparts("bkt", {})->uploads.size(), 1U);
}

TEST_F(LifecycleTest, AnswersForetellIt) {
  ASSERT_EQ(Outcome({"PUT",
                     "/bkt?lifecycle",
                     {},
                     Document(Rule("<ID>all of it</ID><Filter/>"
                                   "<Expiration><Days>1</Days>"
                                   "</Expiration>"
                                   "<AbortIncompleteMultipartUpload>"
                                   "<DaysAfterInitiation>2"
                                   "</DaysAfterInitiation>"
                                   "</AbortIncompleteMultipartUpload>"))}),
            "200 ");
  const std::string expected =
      "expiry-date=\"Thu, 16 Nov 2023 00:00:00 GMT\", rule-id=\"all%20of%20it\"";
  EXPECT_EQ(Do({"PUT", "/bkt/k", {}, "x"}).headers.Get("x-amz-expiration"), expected);
  EXPECT_EQ(Do({"HEAD", "/bkt/k"}).headers.Get("x-amz-expiration"), expected);
  context_.now = clock_.Wall();
  const auto begun = Do({"POST", "/bkt/up?uploads"});
  EXPECT_EQ(begun.headers.Get("x-amz-abort-date"), "Fri, 17 Nov 2023 00:00:00 GMT");
  const auto rules = Do({"GET", "/bkt?lifecycle"});
  EXPECT_THAT(rules.body, HasSubstr("<ID>all of it</ID>"));
  EXPECT_EQ(rules.headers.Get("x-amz-transition-default-minimum-object-size"),
            "all_storage_classes_128K");
  EXPECT_EQ(Outcome({"DELETE", "/bkt?lifecycle"}), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt?lifecycle"}), "404 NoSuchLifecycleConfiguration");
  EXPECT_FALSE(Do({"HEAD", "/bkt/k"}).headers.Has("x-amz-expiration"));
}

TEST_F(LifecycleTest, TheRunnerWorksWhenItIsWoken) {
  LifecycleRunner runner(*store_, clock_);
  ASSERT_TRUE(Put("bkt", "k", "x"));
  ASSERT_TRUE(store_->PutSetting(
      "bkt", "lifecycle",
      Document(Rule("<Filter/><Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration>"))));
  runner.Wake();
  while (Exists("k")) std::this_thread::yield();
}

}  // namespace
}  // namespace sabia::s3
