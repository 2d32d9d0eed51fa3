// Goal: readers of each kind get what they will want, and random ones get nothing more than they
// ask for.
#include "fastfile/read_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "env/random.h"
#include "fastfile/order_pattern.h"

namespace sabia::fastfile {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kSize = 1024 * kMiB;
constexpr std::uint64_t kAsk = 128 * kKiB;
constexpr std::uint64_t kRoom = 1024 * kMiB;

std::uint64_t Sum(const std::vector<Range>& ranges) {
  std::uint64_t out = 0;
  for (const Range& range : ranges) out += range.size();
  return out;
}

TEST(ReadPattern, ASequentialReaderGetsEveryByteOnceInGrowingParts) {
  ReadPattern pattern(kSize, {});
  std::uint64_t ahead = kAsk;
  std::uint64_t part_max = 0;
  std::uint64_t window_max = 0;
  for (std::uint64_t at = 0; at < kSize; at += kAsk) {
    const auto advice = pattern.Observe({at, at + kAsk}, true, kRoom);
    EXPECT_TRUE(advice.forget.empty());
    for (const Range& part : advice.fetch) {
      EXPECT_EQ(part.begin, std::max(ahead, at + kAsk)) << "without gaps, never twice";
      ahead = part.end;
      part_max = std::max(part_max, part.size());
    }
    window_max = std::max(window_max, ahead - std::min(ahead, at));
  }
  EXPECT_EQ(ahead, kSize);
  EXPECT_GE(part_max, 8 * kMiB);
  EXPECT_LE(part_max, 12 * kMiB);
  EXPECT_GE(window_max, 48 * kMiB);
  EXPECT_LE(window_max, (64 + 12) * kMiB);
}

TEST(ReadPattern, TheWindowGrowsOnlyForReadersThatWait) {
  ReadPattern pattern(kSize, {});
  std::uint64_t window = 0;
  std::uint64_t ahead = kAsk;
  for (std::uint64_t at = 0; at < 100 * kMiB; at += kAsk) {
    for (const Range& part : pattern.Observe({at, at + kAsk}, false, kRoom).fetch) ahead = part.end;
    window = std::max(window, ahead - at);
  }
  EXPECT_LE(window, 2 * kMiB);
}

TEST(ReadPattern, RoomIsTheLimit) {
  ReadPattern pattern(kSize, {});
  std::uint64_t ahead = 0;
  for (std::uint64_t at = 0; at < 200 * kMiB; at += kAsk) {
    for (const Range& part : pattern.Observe({at, at + kAsk}, true, 4 * kMiB).fetch)
      ahead = std::max(ahead, part.end);
    EXPECT_LE(ahead, at + kAsk + 6 * kMiB);
  }
}

TEST(ReadPattern, RandomReadersGetNothingMore) {
  ReadPattern pattern(kSize, {});
  env::SeededRandom random(3);
  std::uint64_t more = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t at = kMiB + random.Below(kSize / kAsk - 16) * kAsk;
    more += Sum(pattern.Observe({at, at + kAsk}, true, kRoom).fetch);
  }
  EXPECT_LE(more, 1000 * kAsk / 10);
}

TEST(ReadPattern, SeveralReadersInOneHandleAreFollowedEach) {
  ReadPattern pattern(kSize, {});
  std::vector<std::uint64_t> ahead(4);
  for (std::uint64_t step = 0; step < 400; ++step) {
    for (std::uint64_t reader = 0; reader < 4; ++reader) {
      const std::uint64_t at = reader * kSize / 4 + step * kAsk;
      for (const Range& part : pattern.Observe({at, at + kAsk}, true, kRoom).fetch)
        ahead[part.begin / (kSize / 4)] = part.end;
    }
  }
  for (std::uint64_t reader = 0; reader < 4; ++reader)
    EXPECT_GE(ahead[reader], reader * kSize / 4 + 400 * kAsk + 8 * kMiB) << reader;
}

TEST(ReadPattern, OvertakenRequestsAreNotRandom) {
  ReadPattern pattern(kSize, {});
  std::uint64_t ahead = 0;
  for (std::uint64_t at = 0; at < 50 * kMiB; at += 4 * kAsk) {
    for (const std::uint64_t place : {1, 0, 3, 2}) {
      const std::uint64_t begin = at + place * kAsk;
      for (const Range& part : pattern.Observe({begin, begin + kAsk}, true, kRoom).fetch)
        ahead = std::max(ahead, part.end);
    }
  }
  EXPECT_GE(ahead, 70 * kMiB);
}

// Forwards and backwards, records of one request and of several.
TEST(ReadPattern, StridesAreFetchedAheadRecordByRecord) {
  for (const std::int64_t stride : {std::int64_t{5'000'000}, std::int64_t{-5'000'000}}) {
    for (const std::uint64_t asks : {1, 4}) {
      ReadPattern pattern(kSize, {});
      std::vector<Range> fetched;
      std::uint64_t hits = 0;
      for (std::int64_t record = 0; record < 60; ++record) {
        const auto begin = static_cast<std::uint64_t>(std::int64_t{500'000'000} + record * stride);
        for (std::uint64_t ask = 0; ask < asks; ++ask) {
          const Range range{begin + ask * kAsk, begin + (ask + 1) * kAsk};
          hits += std::any_of(fetched.begin(), fetched.end(), [&](const Range& known) {
            return known.begin <= range.begin && known.end >= range.end;
          });
          const auto advice = pattern.Observe(range, true, kRoom);
          fetched.insert(fetched.end(), advice.fetch.begin(), advice.fetch.end());
        }
      }
      EXPECT_GE(hits, 54 * asks) << stride << " " << asks;
      EXPECT_LE(Sum(fetched), (60 + 24) * asks * kAsk * 2) << "records, not what lies between";
    }
  }
}

TEST(ReadPattern, WhatWasLostIsFetchedAgain) {
  ReadPattern pattern(kSize, {});
  for (std::uint64_t at = 0; at < 20 * kMiB; at += kAsk)
    (void)pattern.Observe({at, at + kAsk}, true, kRoom);
  pattern.Lost({20 * kMiB + kAsk, kSize});
  const auto advice = pattern.Observe({20 * kMiB, 20 * kMiB + kAsk}, true, kRoom);
  ASSERT_FALSE(advice.fetch.empty());
  EXPECT_EQ(advice.fetch.front().begin, 20 * kMiB + kAsk);
}

TEST(OrderPattern, FilesInOrderAreFetchedAhead) {
  OrderPattern order;
  std::uint32_t ahead = 1;
  for (std::uint32_t file = 0; file < 1000; ++file) {
    const auto next = order.Observe(file, 64);
    if (next.begin == next.end) continue;
    EXPECT_EQ(next.begin, std::max(ahead, file + 1)) << "each once";
    ahead = next.end;
    EXPECT_LE(ahead, file + 1 + 64);
  }
  EXPECT_GE(ahead, 1000u + 60);
}

TEST(OrderPattern, SeveralReadersSideBySideAreInOrder) {
  OrderPattern order;
  std::uint32_t ahead = 0;
  for (std::uint32_t block = 0; block < 1000; block += 8) {
    for (const std::uint32_t place : {3, 0, 7, 1, 2, 6, 4, 5})
      ahead = std::max(ahead, order.Observe(block + place, 64).end);
  }
  EXPECT_GE(ahead, 1000u);
}

TEST(OrderPattern, ARandomOrderGetsNothing) {
  OrderPattern order;
  env::SeededRandom random(11);
  std::uint64_t fetched = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto next = order.Observe(static_cast<std::uint32_t>(random.Below(1'000'000)), 64);
    fetched += next.end - next.begin;
  }
  EXPECT_LE(fetched, 50u);
}

}  // namespace
}  // namespace sabia::fastfile
