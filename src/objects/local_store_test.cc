#include "objects/local_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "objects/testing/store_fixture.h"

namespace sabia::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class LocalStoreTest : public testing::StoreFixture {
 protected:
  LocalStoreTest() { EXPECT_TRUE(store_->CreateBucket("b")); }

  std::vector<std::string> Keys(const ListOptions& options) {
    std::vector<std::string> out;
    const auto listing = store_->List("b", options);
    EXPECT_TRUE(listing);
    for (const ObjectInfo& object : listing->objects) out.push_back(object.key);
    for (const std::string& prefix : listing->common_prefixes) out.push_back("P:" + prefix);
    return out;
  }
};

TEST_F(LocalStoreTest, PutThenGetGivesTheSameBytesAndFacts) {
  clock_.Advance(Millis{1234});
  const auto put = Put("b", "k", "hello", {.metadata = {{"content-type", "text/plain"}}});
  ASSERT_TRUE(put) << put.error().message;
  const auto got = store_->Get("b", "k");
  ASSERT_TRUE(got);
  EXPECT_EQ(Content(got->fd.get()), "hello");
  EXPECT_EQ(got->info.size, 5U);
  EXPECT_EQ(got->info.etag, "5d41402abc4b2a76b9719d911017c592");
  EXPECT_EQ(got->info.modified, clock_.Wall());
  EXPECT_EQ(got->info.metadata.at("content-type"), "text/plain");
  EXPECT_EQ(got->info.checksums, (std::map<std::string, std::string>{{"crc32", "NhCmhg=="}}));
  EXPECT_EQ(put->blob_id, got->info.blob_id);
  struct stat facts {};
  ASSERT_EQ(::stat(store_->BlobPath(got->info).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0444U);
  EXPECT_EQ(TemporaryFiles(), 0U);
}

TEST_F(LocalStoreTest, ADroppedUploadLeavesNothing) {
  { auto upload = Uploaded("half"); }
  EXPECT_EQ(BlobFiles(), 0U);
  EXPECT_THAT(Keys({}), IsEmpty());
}

TEST_F(LocalStoreTest, OverwritingKeepsOpenReadersAndRemovesTheOldFile) {
  ASSERT_TRUE(Put("b", "k", "old"));
  const auto reader = store_->Get("b", "k");
  ASSERT_TRUE(reader);
  ASSERT_TRUE(Put("b", "k", "new"));
  EXPECT_EQ(Content(reader->fd.get()), "old");
  EXPECT_EQ(Read("b", "k"), "new");
  // The reaper runs beside us; a reopened store must finish what it did not.
  Reopen();
  while (BlobFiles() > 1) std::this_thread::yield();
  EXPECT_EQ(Read("b", "k"), "new");
}

TEST_F(LocalStoreTest, MissingThingsAreNamed) {
  EXPECT_THAT(Read("nowhere", "k"), StartsWith("error: bucket"));
  EXPECT_THAT(Read("b", "k"), StartsWith("error: key"));
  EXPECT_EQ(Put("nowhere", "k", "x").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store_->Delete("b", "k"));
  EXPECT_EQ(store_->Delete("nowhere", "k").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store_->List("nowhere", {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(BlobFiles(), 0U) << "a refused put must not leave its bytes";
}

TEST_F(LocalStoreTest, KeysAreAnyUtf8OfLegalLength) {
  const std::string longest(kKeyBytesMax, 'k');
  const std::vector<std::string> keys = {"a//b",
                                         "..",
                                         "../../etc/passwd",
                                         "/",
                                         "dir/",
                                         "+ %41",
                                         "a\nb",
                                         "\x01",
                                         longest,
                                         "ключ/鍵/🔑",
                                         std::string("nul\0inside", 10)};
  for (const std::string& key : keys) ASSERT_TRUE(Put("b", key, key)) << key;
  for (const std::string& key : keys) EXPECT_EQ(Read("b", key), key);
  auto listed = Keys({});
  auto expected = keys;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(listed, expected);
  for (const std::string& bad :
       {std::string(), longest + "k", std::string("\xC3"), std::string("\xED\xA0\x80")}) {
    EXPECT_EQ(Put("b", bad, "x").error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(LocalStoreTest, ConditionsAreCheckedInTheCommit) {
  const auto first = Put("b", "k", "1", {.if_none_match = true});
  ASSERT_TRUE(first);
  EXPECT_EQ(Put("b", "k", "2", {.if_none_match = true}).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(Put("b", "k", "2", {.if_match = "other"}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Put("b", "absent", "2", {.if_match = "other"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Read("b", "k"), "1");
  EXPECT_TRUE(Put("b", "k", "2", {.if_match = first->etag}));
  EXPECT_EQ(Read("b", "k"), "2");
}

TEST_F(LocalStoreTest, OfManyConditionalPutsOneWins) {
  std::atomic<int> won{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        if (Put("b", "once", std::to_string(t), {.if_none_match = true})) ++won;
      });
    }
  }
  EXPECT_EQ(won, 1);
}

TEST_F(LocalStoreTest, ReadersNeverMissAKeyThatIsOverwritten) {
  ASSERT_TRUE(Put("b", "hot", "0"));
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> readers;
    for (int t = 0; t < 3; ++t) {
      readers.emplace_back([&] {
        while (!stop) {
          if (Read("b", "hot").starts_with("error")) ++failures;
        }
      });
    }
    for (int i = 0; i < 150; ++i) {
      ASSERT_TRUE(Put("b", "hot", std::to_string(i)));
      if (i % 3 != 0) continue;
      ASSERT_TRUE(store_->Copy({"b", "hot"}, {"b", "hot"}));
    }
    stop = true;
  }
  EXPECT_EQ(failures, 0);
}

TEST_F(LocalStoreTest, CopySharesBytesAndReplacesMetadataOnRequest) {
  ASSERT_TRUE(Put("b", "from", "bytes", {.metadata = {{"x-amz-meta-a", "1"}}}));
  ASSERT_TRUE(store_->CreateBucket("other"));
  const auto kept = store_->Copy({"b", "from"}, {"other", "to"});
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->metadata.at("x-amz-meta-a"), "1");
  EXPECT_EQ(Read("other", "to"), "bytes");
  struct stat a {
  }, b{};
  ASSERT_EQ(::stat(store_->BlobPath(*store_->Head("b", "from")).c_str(), &a), 0);
  ASSERT_EQ(::stat(store_->BlobPath(*kept).c_str(), &b), 0);
  EXPECT_EQ(a.st_ino, b.st_ino) << "a copy is a second name, not a second file";
  const auto replaced =
      store_->Copy({"b", "from"}, {"b", "from"}, {.metadata = Metadata{{"x-amz-meta-b", "2"}}});
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->metadata, (Metadata{{"x-amz-meta-b", "2"}}));
  EXPECT_EQ(store_->Copy({"b", "absent"}, {"b", "x"}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(store_->Delete("b", "from"));
  EXPECT_EQ(Read("other", "to"), "bytes");
}

TEST_F(LocalStoreTest, BucketsComeAndGo) {
  EXPECT_EQ(store_->CreateBucket("b").error().code, ErrorCode::kAlreadyExists);
  ASSERT_TRUE(store_->CreateBucket("a", "eu-west-1"));
  const auto buckets = store_->ListBuckets();
  ASSERT_TRUE(buckets);
  ASSERT_EQ(buckets->size(), 2U);
  EXPECT_EQ((*buckets)[0]->name, "a");
  EXPECT_EQ((*buckets)[0]->region, "eu-west-1");
  EXPECT_EQ((*buckets)[1]->region, "us-west-2");
  ASSERT_TRUE(Put("b", "k", "x"));
  EXPECT_EQ(store_->DeleteBucket("b").error().code, ErrorCode::kConflict);
  ASSERT_TRUE(store_->Delete("b", "k"));
  EXPECT_TRUE(store_->DeleteBucket("b"));
  EXPECT_EQ(store_->DeleteBucket("b").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(store_->CreateBucket("b"));
  EXPECT_THAT(Keys({}), IsEmpty());
}

TEST_F(LocalStoreTest, ListFoldsByDelimiter) {
  for (const char* key : {"a", "b/1", "b/2", "b/c/3", "c", "d/", "d/x"})
    ASSERT_TRUE(Put("b", key, ""));
  EXPECT_THAT(Keys({.delimiter = "/"}), ElementsAre("a", "c", "P:b/", "P:d/"));
  EXPECT_THAT(Keys({.prefix = "b/", .delimiter = "/"}), ElementsAre("b/1", "b/2", "P:b/c/"));
  EXPECT_THAT(Keys({.prefix = "b"}), ElementsAre("b/1", "b/2", "b/c/3"));
  EXPECT_THAT(Keys({.prefix = "b", .delimiter = "/"}), ElementsAre("P:b/"));
  EXPECT_THAT(Keys({.delimiter = "/", .start_after = "b/1"}), ElementsAre("c", "P:d/"));
  EXPECT_THAT(Keys({.start_after = "b/1"}), ElementsAre("b/2", "b/c/3", "c", "d/", "d/x"));
  EXPECT_THAT(Keys({.prefix = "d/", .delimiter = "/"}), ElementsAre("d/", "d/x"));
  EXPECT_THAT(Keys({.prefix = "b/", .start_after = "zzz"}), IsEmpty());
  EXPECT_THAT(Keys({.prefix = "c", .start_after = "a"}), ElementsAre("c"));
  EXPECT_THAT(Keys({.limit = 0}), IsEmpty());
  EXPECT_THAT(Keys({.delimiter = "c/"}),
              ElementsAre("a", "b/1", "b/2", "c", "d/", "d/x", "P:b/c/"));
}

TEST_F(LocalStoreTest, PagesCoverEverythingOnceWhileKeysComeAndGo) {
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(Put("b", fmt::format("{:02}/{}", i / 3, i), ""));
  for (const std::string& delimiter : {std::string(), std::string("/")}) {
    std::vector<std::string> paged;
    ListOptions options{.delimiter = delimiter, .limit = 4};
    while (true) {
      const auto page = store_->List("b", options);
      ASSERT_TRUE(page);
      EXPECT_LE(page->objects.size() + page->common_prefixes.size(), 4U);
      for (const ObjectInfo& o : page->objects) paged.push_back(o.key);
      for (const std::string& p : page->common_prefixes) paged.push_back("P:" + p);
      if (!page->truncated) break;
      options.start_after = page->next_start_after;
      ASSERT_TRUE(Put("b", "00/0", "again"));  // behind the page: must not disturb the next
    }
    EXPECT_EQ(paged, Keys({.delimiter = delimiter}));
  }
}

TEST_F(LocalStoreTest, EverythingSurvivesAReopen) {
  ASSERT_TRUE(Put("b", "k", "v", {.metadata = {{"x-amz-meta-a", "\"quoted\" \\"}}}));
  Reopen();
  EXPECT_EQ(Read("b", "k"), "v");
  EXPECT_EQ(store_->Head("b", "k")->metadata.at("x-amz-meta-a"), "\"quoted\" \\");
}

// A power failure may undo the move of a committed file, and leave bytes that no row wants.
TEST_F(LocalStoreTest, OpenFinishesMovesAndForgetsStrangers) {
  const auto put = Put("b", "k", "v");
  ASSERT_TRUE(put);
  const env::Path place = store_->BlobPath(*put);
  store_.reset();
  std::filesystem::rename(place, paths_.blobs_tmp() / put->blob_id);
  const std::string stranger(32, 'a');
  ASSERT_TRUE(env::OpenFile(paths_.blobs_tmp() / stranger, O_WRONLY | O_CREAT));
  Reopen();
  EXPECT_EQ(TemporaryFiles(), 0U);
  EXPECT_EQ(Read("b", "k"), "v");
}

TEST_F(LocalStoreTest, ABlobThatWasNotMovedYetIsReadable) {
  const auto put = Put("b", "k", "v");
  ASSERT_TRUE(put);
  std::filesystem::rename(store_->BlobPath(*put), paths_.blobs_tmp() / put->blob_id);
  EXPECT_EQ(Read("b", "k"), "v");
  EXPECT_TRUE(store_->Copy({"b", "k"}, {"b", "copy"}));
}

TEST_F(LocalStoreTest, AMissingFileIsCorruptionNotAnEndlessSearch) {
  const auto put = Put("b", "k", "v");
  ASSERT_TRUE(put);
  std::filesystem::remove(store_->BlobPath(*put));
  EXPECT_EQ(store_->Get("b", "k").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store_->Copy({"b", "k"}, {"b", "c"}).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sabia::objects
