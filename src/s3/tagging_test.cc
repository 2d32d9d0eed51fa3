#include <gmock/gmock.h>

#include "s3/tag_set.h"
#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;

using S3TaggingTest = testing::S3Fixture;

std::string Parsed(std::string_view header) {
  const auto tags = ParseTagHeader(header);
  if (!tags) return tags.error().code;
  std::string out;
  for (const auto& [key, value] : *tags) out += key + "=" + value + ";";
  return out;
}

std::string Document(int count) {
  std::string out = "<Tagging xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><TagSet>";
  for (int i = 0; i < count; ++i) {
    out += "<Tag><Key>k" + std::to_string(i) + "</Key><Value>é &amp;</Value></Tag>";
  }
  return out + "</TagSet></Tagging>";
}

TEST(S3TagSet, Headers) {
  EXPECT_EQ(Parsed(""), "");
  EXPECT_EQ(Parsed("a=1&b%20c=x%2By&d"), "a=1;b c=x+y;d=;");
  EXPECT_EQ(Parsed("a=1&a=2"), "InvalidArgument");
  EXPECT_EQ(Parsed("a=%"), "InvalidArgument");
  EXPECT_EQ(Parsed("=1"), "InvalidTag");
  EXPECT_EQ(Parsed("aws:x=1"), "InvalidTag");
  EXPECT_EQ(Parsed("a=%3C"), "InvalidTag");
  EXPECT_EQ(Parsed("a=%FF"), "InvalidTag");
  EXPECT_EQ(Parsed(std::string(129, 'k') + "=1"), "InvalidTag");
  EXPECT_EQ(Parsed("k=" + std::string(257, 'v')), "InvalidTag");
  EXPECT_EQ(Parsed("a&b&c&d&e&f&g&h&i&j&k"), "BadRequest");
}

TEST(S3TagSet, Documents) {
  // A value may not hold "&"; what may be held is written back as it came.
  EXPECT_EQ(ParseTagging(Document(1), kObjectTagsMax).error().code, "InvalidTag");
  const std::string good =
      "<Tagging><TagSet><Tag><Key>é</Key><Value> = </Value></Tag></TagSet></Tagging>";
  const auto tags = ParseTagging(good, kObjectTagsMax);
  ASSERT_TRUE(tags);
  EXPECT_EQ(*tags, (Tags{{"é", " = "}}));
  EXPECT_EQ(*ParseTagging(WriteTagging(*tags), kObjectTagsMax), *tags);
  EXPECT_TRUE(ParseTagging("<Tagging><TagSet/></Tagging>", kObjectTagsMax)->empty());
  for (const char* bad :
       {"", "<Tagging/>", "<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>",
        "<Tagging><TagSet><Other/></TagSet></Tagging>", "<Tagging><TagSet/><TagSet/></Tagging>"}) {
    EXPECT_EQ(ParseTagging(bad, kObjectTagsMax).error().code, "MalformedXML") << bad;
  }
}

TEST_F(S3TaggingTest, ObjectsAreTaggedByHeaderAndByDocument) {
  ASSERT_EQ(Outcome({"PUT", "/bkt/k", {{"x-amz-tagging", "a=1&b=2"}}, "x"}), "200 ");
  EXPECT_EQ(Do({"GET", "/bkt/k"}).headers.Get("x-amz-tagging-count"), "2");
  EXPECT_THAT(Do({"GET", "/bkt/k?tagging"}).body,
              HasSubstr("<TagSet><Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>b</Key>"));
  EXPECT_EQ(Outcome({"PUT", "/bkt/copy", {{"x-amz-copy-source", "bkt/k"}}}), "200 ");
  EXPECT_EQ(store_->Head("bkt", "copy")->tags, (Tags{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(Outcome({"PUT",
                     "/bkt/copy",
                     {{"x-amz-copy-source", "bkt/k"},
                      {"x-amz-tagging-directive", "REPLACE"},
                      {"x-amz-tagging", "c=3"}}}),
            "200 ");
  EXPECT_EQ(store_->Head("bkt", "copy")->tags, (Tags{{"c", "3"}}));
  EXPECT_EQ(Outcome({"PUT", "/bkt/none?tagging", {}, "<Tagging><TagSet/></Tagging>"}),
            "404 NoSuchKey");
  EXPECT_EQ(Outcome({"PUT", "/bkt/k?tagging", {}, "<Tagging><TagSet/></Tagging>"}), "200 ");
  EXPECT_TRUE(store_->Head("bkt", "k")->tags.empty());
}

TEST_F(S3TaggingTest, BucketsHaveTagsToo) {
  EXPECT_EQ(Outcome({"GET", "/bkt?tagging"}), "404 NoSuchTagSet");
  const std::string document =
      "<Tagging><TagSet><Tag><Key>team</Key><Value>a b</Value></Tag></TagSet></Tagging>";
  EXPECT_EQ(Outcome({"PUT", "/bkt?tagging", {}, document}), "204 ");
  EXPECT_THAT(Do({"GET", "/bkt?tagging"}).body, HasSubstr("<Key>team</Key><Value>a b</Value>"));
  Reopen();
  EXPECT_TRUE((*store_->GetBucket("bkt"))->settings.contains("tagging")) << "it was acknowledged";
}

TEST_F(S3TaggingTest, StorageClassesAndRedirectsAreShown) {
  ASSERT_EQ(Outcome({"PUT",
                     "/bkt/k",
                     {{"x-amz-storage-class", "STANDARD_IA"},
                      {"x-amz-website-redirect-location", "/other"}},
                     "x"}),
            "200 ");
  const auto got = Do({"GET", "/bkt/k"});
  EXPECT_EQ(got.headers.Get("x-amz-storage-class"), "STANDARD_IA");
  EXPECT_EQ(got.headers.Get("x-amz-website-redirect-location"), "/other");
  EXPECT_THAT(Do({"GET", "/bkt?list-type=2"}).body,
              HasSubstr("<StorageClass>STANDARD_IA</StorageClass>"));
  ASSERT_EQ(Outcome({"PUT", "/bkt/k", {{"x-amz-copy-source", "bkt/k"}}}), "200 ")
      << "the class changes";
  const auto copied = Do({"GET", "/bkt/k"});
  EXPECT_FALSE(copied.headers.Has("x-amz-storage-class"));
  EXPECT_FALSE(copied.headers.Has("x-amz-website-redirect-location"));
}

}  // namespace
}  // namespace sabia::s3
