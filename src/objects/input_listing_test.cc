#include "objects/input_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "objects/testing/store_fixture.h"

namespace sabia::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InputListing : public testing::StoreFixture {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->CreateBucket("bkt", "us-west-2")); }

  void Have(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      ASSERT_TRUE(Put("bkt", key, key.back() == '/' ? "" : "data"));
    }
  }

  std::vector<std::string> Paths(const std::string& uri) {
    return Names(ListInput(*store_, {InputSource::Type::kPrefix, uri}));
  }
  std::vector<std::string> ManifestPaths(std::string_view manifest) {
    EXPECT_TRUE(Put("bkt", "m.json", manifest));
    return Names(ListInput(*store_, {InputSource::Type::kManifest, "s3://bkt/m.json"}));
  }
  std::vector<std::string> Names(const Result<std::vector<InputFile>>& files) {
    error_ = files ? Error{} : files.error();
    std::vector<std::string> out;
    if (files) {
      for (const InputFile& file : *files) out.push_back(file.path);
    }
    return out;
  }

  Error error_;
};

TEST_F(InputListing, OfAFolderGivesPathsBelowIt) {
  Have({"p/x/y", "p/z", "q"});
  EXPECT_THAT(Paths("s3://bkt/p/"), ElementsAre("x/y", "z"));
  EXPECT_THAT(Paths("s3://bkt/p"), ElementsAre("x/y", "z"));
}

TEST_F(InputListing, OfARawPrefixKeepsWholeBaseNames) {
  Have(
      {"data/train-data.csv", "data/train-ground-truth.csv", "data/raw-data.txt", "data/train2/f"});
  EXPECT_THAT(Paths("s3://bkt/data/train"),
              ElementsAre("train-data.csv", "train-ground-truth.csv", "train2/f"));
}

TEST_F(InputListing, OfStreamsTakesAnyKey) {
  Have({"p/a", "p/a/b", "p//c", "p/../d", "p/folder/"});
  const auto keys = [&](const InputSource& source) {
    std::vector<std::string> out;
    const auto files = ListInput(*store_, source);
    EXPECT_TRUE(files) << files.error().message;
    for (const InputFile& file : *files) out.push_back(file.object.key);
    return out;
  };
  EXPECT_THAT(keys({InputSource::Type::kPrefix, "s3://bkt/p/", false}),
              ElementsAre("p/../d", "p//c", "p/a", "p/a/b"));
  ASSERT_TRUE(Put("bkt", "m", R"([{"prefix": "s3://bkt/p/"}, "a", "a/b", "a"])"));
  EXPECT_THAT(keys({InputSource::Type::kManifest, "s3://bkt/m", false}),
              ElementsAre("p/a", "p/a/b", "p/a"));
}

TEST_F(InputListing, OfAnAugmentedManifestIsTheManifest) {
  Have({"d/m.jsonl"});
  EXPECT_THAT(
      Names(ListInput(*store_, {InputSource::Type::kAugmentedManifest, "s3://bkt/d/m.jsonl"})),
      ElementsAre("m.jsonl"));
  EXPECT_TRUE(
      Names(ListInput(*store_, {InputSource::Type::kAugmentedManifest, "s3://bkt/d/m"})).empty());
  EXPECT_EQ(error_.code, ErrorCode::kNotFound);
  EXPECT_FALSE(CheckInput(*store_, {InputSource::Type::kAugmentedManifest, "s3://bkt/d/"}));
}

TEST_F(InputListing, OfOneObjectGivesItsBaseName) {
  Have({"a/b/c.csv"});
  EXPECT_THAT(Paths("s3://bkt/a/b/c.csv"), ElementsAre("c.csv"));
}

TEST_F(InputListing, OfAWholeBucketGivesKeys) {
  Have({"a", "d/e"});
  EXPECT_THAT(Paths("s3://bkt"), ElementsAre("a", "d/e"));
  EXPECT_THAT(Paths("s3://bkt/"), ElementsAre("a", "d/e"));
}

TEST_F(InputListing, LeavesOutDirectoryMarkers) {
  Have({"p/", "p/sub/", "p/sub/f"});
  EXPECT_THAT(Paths("s3://bkt/p/"), ElementsAre("sub/f"));
}

TEST_F(InputListing, OfNothingOrOnlyMarkersFails) {
  Have({"p/"});
  EXPECT_THAT(Paths("s3://bkt/p/"), ElementsAre());
  EXPECT_EQ(error_.code, ErrorCode::kNotFound);
  EXPECT_FALSE(CheckInput(*store_, {InputSource::Type::kPrefix, "s3://bkt/p/"}));
  EXPECT_THAT(Paths("s3://nobody/p/"), ElementsAre());
  EXPECT_EQ(error_.code, ErrorCode::kNotFound);
  EXPECT_THAT(error_.message, HasSubstr("bucket"));
}

TEST_F(InputListing, RefusesAFileWhereADirectoryIsNeeded) {
  Have({"p/a", "p/a/b"});
  EXPECT_THAT(Paths("s3://bkt/p/"), ElementsAre());
  EXPECT_EQ(error_.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error_.message, HasSubstr("'p/a'"));
  EXPECT_THAT(error_.message, HasSubstr("'p/a/b'"));
}

TEST_F(InputListing, RefusesTwoObjectsForOneFile) {
  Have({"x/train", "x/train/train"});
  EXPECT_THAT(Paths("s3://bkt/x/train"), ElementsAre());
  EXPECT_THAT(error_.message, HasSubstr("'x/train' and 'x/train/train'"));
}

TEST_F(InputListing, RefusesKeysThatAreNoSafePaths) {
  for (const std::string_view key : {"p/../etc/passwd", "p/./a", "p//etc/passwd", "p/a//b"}) {
    ASSERT_TRUE(Put("bkt", key, "data"));
    EXPECT_THAT(Paths("s3://bkt/p/"), ElementsAre()) << key;
    EXPECT_EQ(error_.code, ErrorCode::kInvalidArgument) << key;
    EXPECT_THAT(error_.message, HasSubstr(std::string(key)));
    ASSERT_TRUE(store_->Delete("bkt", key));
  }
  ASSERT_TRUE(Put("bkt", "p/" + std::string(300, 'x'), "data"));
  EXPECT_THAT(Paths("s3://bkt/p/"), ElementsAre());
  EXPECT_THAT(error_.message, HasSubstr("255 bytes"));
}

TEST_F(InputListing, OfAManifestGivesExactlyItsObjectsUnderTheirSuffixes) {
  Have({"d/1", "d/2", "d/sub/3", "d/4", "d/5"});
  EXPECT_THAT(ManifestPaths(R"([{"prefix":"s3://bkt/d/"},"2","sub/3"])"),
              ElementsAre("2", "sub/3"));
}

TEST_F(InputListing, RefusesBadManifestsWithTheReason) {
  const struct {
    std::string_view manifest;
    std::string_view reason;
  } kCases[] = {
      {"not json", "m.json"},
      {"{}", "no JSON array"},
      {"[]", "no JSON array"},
      {R"(["a"])", "no text 'prefix'"},
      {R"([{"prefix":"s3://bkt/"}])", "lists no object"},
      {R"([{"prefix":"s3://bkt/"},1])", "element 1 is no text"},
      {R"([{"prefix":"s3://bkt/"},"gone"])", "'s3://bkt/gone'"},
      {R"([{"prefix":"s3://bkt/"},"../m.json"])", "'..' components"},
      {R"([{"prefix":"http://b/"},"x"])", "http"},
  };
  for (const auto& [manifest, reason] : kCases) {
    EXPECT_THAT(ManifestPaths(manifest), ElementsAre()) << manifest;
    EXPECT_THAT(error_.message, HasSubstr(std::string(reason))) << manifest;
  }
}

TEST_F(InputListing, IsSharedOutRoundRobinByKey) {
  Have({"p/a", "p/b", "p/c", "p/d", "p/e"});
  const auto files = ListInput(*store_, {InputSource::Type::kPrefix, "s3://bkt/p/"});
  ASSERT_TRUE(files);
  EXPECT_THAT(Names(ShardOf(*files, 0, 2)), ElementsAre("a", "c", "e"));
  EXPECT_THAT(Names(ShardOf(*files, 1, 2)), ElementsAre("b", "d"));
  EXPECT_THAT(Names(ShardOf(*files, 6, 7)), ElementsAre());
}

TEST_F(InputListing, ReadsManyPages) {
  constexpr int kThreads = 15;
  constexpr int kEach = 67;  // 1005 objects: one page and a little more
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kEach; ++i) EXPECT_TRUE(Put("bkt", fmt::format("n/{}-{}", t, i), "x"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Paths("s3://bkt/n/").size(), 1005u);
}

TEST(EmptyInputMessage, IsThatOfAws) {
  EXPECT_EQ(EmptyInputMessage({"s3://bkt/p", "us-west-2", "arn:r", true}),
            "No S3 objects found under S3 URL \"s3://bkt/p\" given in input data source. Please "
            "ensure that the "
            "bucket exists in the selected region (us-west-2), that objects exist under that S3 "
            "prefix, and that "
            "the role \"arn:r\" has \"s3:ListBucket\" permissions on bucket \"bkt\". Error message "
            "from S3: The "
            "specified bucket does not exist");
}

}  // namespace
}  // namespace sabia::objects
