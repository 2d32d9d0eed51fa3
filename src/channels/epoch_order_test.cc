#include "channels/epoch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sabia::channels {
namespace {

std::vector<std::uint64_t> Items(const EpochOrder& order) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t place = 0;; ++place) {
    const auto number = order.At(place);
    if (!number) return out;
    out.push_back(*number);
  }
}

TEST(EpochOrder, WithoutASeedIsTheListingsOrder) {
  const EpochOrder all{Share{}};
  EXPECT_EQ(all.At(0), 0u);
  EXPECT_EQ(all.At(7), 7u);
  const EpochOrder third{Share{2, 3}};
  EXPECT_EQ(third.At(0), 2u);
  EXPECT_EQ(third.At(1), 5u);
}

TEST(EpochOrder, ASeedGivesEveryItemOnceInAnOrderOfItsOwn) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
      std::vector<std::uint64_t> items = Items({Share{}, 20, seed, epoch});
      EXPECT_EQ(items, Items({Share{}, 20, seed, epoch})) << "not repeatable";
      orders.insert(items);
      std::sort(items.begin(), items.end());
      for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(items.at(i), i);
    }
  }
  EXPECT_EQ(orders.size(), 25u);
}

// Written down, for jobs that are repeated after an upgrade must see the same order.
TEST(EpochOrder, StaysAsItIs) {
  EXPECT_THAT(Items({Share{}, 8, 42, 0}), testing::ElementsAre(3, 6, 0, 7, 1, 2, 5, 4));
  EXPECT_THAT(Items({Share{}, 8, 42, 1}), testing::ElementsAre(1, 0, 5, 3, 4, 6, 7, 2));
}

TEST(EpochOrder, SharesAreDisjointCompleteAndChange) {
  std::vector<std::vector<std::uint64_t>> first_host;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t host = 0; host < 3; ++host) {
      const auto items = Items({Share{host, 3}, 10, 1, epoch});
      EXPECT_EQ(items.size(), host == 0 ? 4u : 3u);
      if (host == 0) first_host.push_back(items);
      all.insert(all.end(), items.begin(), items.end());
    }
    std::sort(all.begin(), all.end());
    for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(all.at(i), i);
  }
  EXPECT_NE(first_host[0], first_host[1]);
}

TEST(EpochOrder, IsEven) {
  // Of 6000 epochs each of three items comes first in some 2000; six standard deviations are 219.
  std::array<int, 3> firsts{};
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) ++firsts[*EpochOrder({}, 3, 7, epoch).At(0)];
  for (const int count : firsts) EXPECT_NEAR(count, 2000, 219);
}

TEST(EpochOrder, OfNothingAndOfOne) {
  EXPECT_TRUE(Items({Share{}, 0, 1, 1}).empty());
  EXPECT_THAT(Items({Share{}, 1, 1, 1}), testing::ElementsAre(0u));
  EXPECT_TRUE(Items({Share{1, 2}, 1, 1, 1}).empty());
}

}  // namespace
}  // namespace sabia::channels
