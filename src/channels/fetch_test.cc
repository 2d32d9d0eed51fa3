#include "channels/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "channels/download.h"
#include "channels/object_cache.h"
#include "channels/piece_map.h"
#include "env/testing/temporary_directory.h"
#include "wire/testing/bytes.h"
#include "wire/testing/memory_s3_server.h"

namespace sabia::channels {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::Content;

std::string Noise(std::size_t size) {
  return wire::Noise(size, static_cast<std::uint32_t>(size) + 1);
}

class FetchTest : public ::testing::Test {
 protected:
  ListedObject Have(const std::string& path, const std::string& content) {
    server_.s3.objects["/bucket/in/" + path] = content;
    return {.path = path,
            .size = content.size(),
            .bucket = "bucket",
            .key = "in/" + path,
            .etag = "e1",
            .modified = FromUnixMillis(1'600'000'000'000)};
  }
  MakeClient Connect() {
    return [this] { return server_.Connect(); };
  }
  Status Download(const std::vector<ListedObject>& objects) {
    return DownloadObjects(objects, directory_.path(), Connect(), {});
  }
  ObjectCache Cache(std::uint64_t limit = 1 << 30) {
    CacheOptions options;
    options.directory = directory_.path() / "cache";
    options.limit_bytes = limit;
    options.fetch = {.connections = 4, .piece_size = 1 << 20, .boot = "boot"};
    return ObjectCache(options);
  }
  Result<ObjectCache::Files> Get(const std::vector<ListedObject>& objects,
                                 const std::string& pins = "pins") {
    return Cache().Get(objects, directory_.path() / pins, Connect(), {});
  }
  std::vector<std::string> Names(const std::string& directory) {
    std::vector<std::string> out;
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(directory_.path() / directory, none)) {
      out.push_back(entry.path().filename());
    }
    return out;
  }

  // By the journal of the only partial object.
  std::ptrdiff_t PiecesThere() {
    for (const std::string& name : Names("cache/partial")) {
      if (!name.ends_with(".pieces")) continue;
      const std::string journal = Content(directory_.path() / "cache/partial" / name);
      return std::count(journal.begin(), journal.end(), '\n') - 1;
    }
    return 0;
  }

  wire::MemoryS3Server server_;
  env::TemporaryDirectory directory_;
};

TEST_F(FetchTest, ObjectsBecomeFilesInWholeOrPieces) {
  const std::string big = Noise((20 << 20) + 5);
  const std::vector<ListedObject> objects = {Have("a", "small"), Have("empty", ""),
                                             Have("d/e/big", big)};
  const Status done = Download(objects);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(Content(directory_.path() / "a"), "small");
  EXPECT_EQ(Content(directory_.path() / "empty"), "");
  EXPECT_TRUE(Content(directory_.path() / "d/e/big") == big);
  EXPECT_EQ(Names("").size(), 3u);
}

TEST_F(FetchTest, SurvivesWhatEndpointsDo) {
  const std::string big = Noise(18 << 20);
  const std::vector<ListedObject> objects = {Have("a", Noise(100'000)), Have("big", big)};
  server_.s3.faults = {.answer_500 = 2, .slow_down = 2, .cut_get_after = 3, .wrong_bytes = 1};
  const Status done = Download(objects);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(Content(directory_.path() / "a") == Noise(100'000));
  EXPECT_TRUE(Content(directory_.path() / "big") == big);
}

TEST_F(FetchTest, TellsWhichObjectFailedAndLeavesNoPieces) {
  ListedObject gone = Have("gone", "x");
  server_.s3.objects.clear();
  const Status missing = Download({gone});
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("'s3://bucket/in/gone'"));
  std::vector<ListedObject> objects = {Have("big", Noise(10 << 20))};
  objects[0].size -= 1;
  EXPECT_EQ(Download(objects).error().code, ErrorCode::kConflict);
  objects[0].size += 1;
  objects[0].etag = "other";
  EXPECT_EQ(Download(objects).error().code, ErrorCode::kConflict);
  EXPECT_THAT(Names(""), IsEmpty());
}

TEST_F(FetchTest, ContentThatStaysWrongIsNeverAccepted) {
  const std::vector<ListedObject> objects = {Have("a", Noise(100'000))};
  server_.s3.faults.wrong_bytes = 1'000;
  const Status done = Download(objects);
  EXPECT_EQ(done.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(Names(""), IsEmpty());
}

TEST_F(FetchTest, ACacheFetchesOnceAndKeepsTheirTimes) {
  const std::vector<ListedObject> objects = {Have("a", "small"), Have("big", Noise(5 << 20))};
  const auto first = Get(objects);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->stats.fetched, 2u);
  EXPECT_TRUE(Content(first->objects[1].blob) == Noise(5 << 20));
  struct stat info {};
  ASSERT_EQ(::stat(first->objects[0].blob.c_str(), &info), 0);
  EXPECT_EQ(info.st_mtime, 1'600'000'000);
  EXPECT_EQ(info.st_mode & 0777, 0444u);
  const int requests = server_.s3.requests;
  const auto again = Get(objects, "pins2");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->stats.hits, 2u);
  EXPECT_EQ(server_.s3.requests, requests);
  EXPECT_THAT(Names("cache/partial"), IsEmpty());
}

TEST_F(FetchTest, AnInterruptedDownloadGoesOnWhereItWas) {
  const std::string big = Noise(30 << 20);
  const std::vector<ListedObject> objects = {Have("big", big)};
  const auto stopped = Cache().Get(objects, directory_.path() / "pins", Connect(),
                                   [&] { return PiecesThere() >= 3; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kTimeout);
  const auto there = PiecesThere();
  const int before = server_.s3.requests;
  const auto done = Get(objects);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(Content(done->objects[0].blob) == big);
  EXPECT_EQ(server_.s3.requests - before, 30 - there + 1) << "one look, and the missing pieces";
}

TEST_F(FetchTest, EvictionRemovesTheLongestUnusedThatNobodyLinks) {
  const std::vector<ListedObject> a = {Have("a", Noise(1'000'000))};
  const std::vector<ListedObject> b = {Have("b", Noise(1'000'001))};
  const std::vector<ListedObject> c = {Have("c", Noise(1'000'002))};
  ASSERT_TRUE(Get(a, "pins-a") && Get(b, "pins-b") && Get(c, "pins-c"));
  Cache(0).Evict();
  EXPECT_EQ(Names("cache/objects").size(), 3u) << "all are in use";
  std::filesystem::remove_all(directory_.path() / "pins-a");
  std::filesystem::remove_all(directory_.path() / "pins-c");
  ASSERT_TRUE(Get(a, "pins-a2"));  // used again, and let go
  std::filesystem::remove_all(directory_.path() / "pins-a2");
  Cache(1'100'000).Evict();
  EXPECT_EQ(Names("cache/objects").size(), 2u);
  const int requests = server_.s3.requests;
  EXPECT_TRUE(Get(a, "pins-a3") && Get(b, "pins-b3"));
  EXPECT_EQ(server_.s3.requests, requests) << "c was the longest unused";
}

TEST_F(FetchTest, TwoProcessesFetchAnObjectOnce) {
  std::vector<ListedObject> objects;
  for (int i = 0; i < 20; ++i) objects.push_back(Have(std::to_string(i), Noise(50'000 + i)));
  Status other;
  std::thread second([&] {
    const auto got = Get(objects, "pins2");
    if (!got) other = tl::make_unexpected(got.error());
  });
  const auto first = Get(objects, "pins1");
  second.join();
  ASSERT_TRUE(first && other) << (first ? other.error().message : first.error().message);
  EXPECT_EQ(server_.s3.requests, 20);
  EXPECT_EQ(Names("pins1").size(), 20u);
  EXPECT_EQ(Names("pins2").size(), 20u);
}

TEST_F(FetchTest, PiecesOfAnotherBootOrLayoutAreForgotten) {
  const env::Path file = directory_.path() / "f";
  const PieceLayout layout{10, 4, "crc32"};
  {
    auto map = PieceMap::Open(file, layout, "one");
    ASSERT_TRUE(map && map->Add(1, "abcd"));
    std::ofstream(PieceMap::PathOf(file), std::ios::app) << "0 torn";
  }
  auto map = PieceMap::Open(file, layout, "one");
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->Has(1) && !map->Has(0) && !map->complete());
  EXPECT_EQ(map->checksum(1), "abcd");
  EXPECT_EQ(map->layout().length(2), 2u);
  EXPECT_FALSE(PieceMap::Open(file, {10, 5, "crc32"}, "one")->Has(1));
  EXPECT_FALSE(PieceMap::Open(file, layout, "one")->Has(1));
  ASSERT_TRUE(PieceMap::Open(file, layout, "one")->Add(1, ""));
  EXPECT_FALSE(PieceMap::Open(file, layout, "two")->Has(1));
}

}  // namespace
}  // namespace sabia::channels
