#include "objects/object_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "objects/testing/store_fixture.h"

namespace sabia::objects {
namespace {

ObjectCache::Entry EntryOf(const std::string& content) {
  auto info = std::make_shared<ObjectInfo>();
  info->size = content.size();
  return {std::move(info), std::make_shared<const std::string>(content)};
}

std::string ContentIn(ObjectCache& cache, std::string_view key) {
  const auto look = cache.Find("b", key);
  return look.entry.content ? *look.entry.content : "nothing";
}

TEST(ObjectCache, GivesWhatWasPutIn) {
  ObjectCache cache;
  const auto look = cache.Find("b", "k");
  EXPECT_EQ(look.entry.info, nullptr);
  cache.Insert("b", "k", look.ticket, EntryOf("bytes"));
  EXPECT_EQ(ContentIn(cache, "k"), "bytes");
  EXPECT_EQ(ContentIn(cache, "other"), "nothing");
}

TEST(ObjectCache, WhatWasReadBeforeAChangeEndsNeverGetsIn) {
  ObjectCache cache;
  const auto before = cache.Find("b", "k").ticket;
  {
    const auto change = cache.Begin("b", "k");
    const auto during = cache.Find("b", "k").ticket;
    cache.Insert("b", "k", before, EntryOf("old"));
    cache.Insert("b", "k", during, EntryOf("old"));
    EXPECT_EQ(ContentIn(cache, "k"), "nothing");
  }
  cache.Insert("b", "k", before, EntryOf("old"));
  EXPECT_EQ(ContentIn(cache, "k"), "nothing");
  cache.Insert("b", "k", cache.Find("b", "k").ticket, EntryOf("new"));
  EXPECT_EQ(ContentIn(cache, "k"), "new");
  const auto change = cache.Begin("b", "k");
  EXPECT_EQ(ContentIn(cache, "k"), "nothing") << "from the beginning of a change";
}

TEST(ObjectCache, StaysWithinItsBytes) {
  ObjectCache cache;
  constexpr int kEntries = 10'000;
  const std::string content(ObjectCache::kContentMax, 'x');
  std::size_t kept = 0;
  for (int i = 0; i < kEntries; ++i) {
    const std::string key = std::to_string(i);
    cache.Insert("b", key, cache.Find("b", key).ticket, EntryOf(content));
  }
  for (int i = 0; i < kEntries; ++i) {
    if (cache.Find("b", std::to_string(i)).entry.info) ++kept;
  }
  EXPECT_GT(kept, 0U);
  EXPECT_LE(kept * content.size(), ObjectCache::kBytesMax);
}

using ServeTest = testing::StoreFixture;

// Whoever asks after a write was acknowledged sees it, however many read meanwhile.
TEST_F(ServeTest, ReadersNeverSeeWhatAnAnswerHasOvertaken) {
  ASSERT_TRUE(store_->CreateBucket("b"));
  std::atomic<int> acknowledged{0};
  ASSERT_TRUE(Put("b", "k", "0"));
  std::atomic<bool> over{false};
  std::vector<std::jthread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!over.load()) {
        const int least = acknowledged.load();
        const auto served = store_->Serve("b", "k");
        ASSERT_TRUE(served) << served.error().message;
        ASSERT_TRUE(served->content);
        EXPECT_GE(std::stoi(*served->content), least);
        EXPECT_EQ(served->info->size, served->content->size());
      }
    });
  }
  for (int i = 1; i <= 200; ++i) {
    ASSERT_TRUE(Put("b", "k", std::to_string(i)));
    acknowledged.store(i);
  }
  over.store(true);
  readers.clear();
  ASSERT_TRUE(store_->SetTags({"b", "k"}, {{"t", "1"}}));
  EXPECT_EQ(store_->Serve("b", "k")->info->tags.size(), 1U);
  ASSERT_TRUE(store_->Delete("b", "k"));
  EXPECT_EQ(store_->Serve("b", "k").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(Put("b", "k", std::string(100'000, 'l')));
  const auto large = store_->Serve("b", "k");
  ASSERT_TRUE(large);
  EXPECT_FALSE(large->content);
  EXPECT_EQ(Content(large->fd.get()).size(), 100'000U);
}

}  // namespace
}  // namespace sabia::objects
