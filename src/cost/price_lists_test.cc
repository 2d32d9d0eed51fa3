#include "cost/price_lists.h"

#include <gtest/gtest.h>

namespace sabia::cost {
namespace {

PriceBook Book(std::string_view lines) {
  return *PriceBook::Parse("region,instance_type,usd_per_hour,basis,spot_saving_percent\n" +
                           std::string(lines));
}

WallTime On(std::string_view date) { return *ParseIso8601(std::string(date) + "T12:00:00Z"); }

Money OnDemand(const PriceLists& lists, std::string_view type, std::string_view date) {
  const auto quote = lists.Find("us-east-1", type, On(date));
  return quote ? quote->price.on_demand_per_hour : Money();
}

TEST(PriceLists, AListCountsFromItsDate) {
  PriceLists lists;
  ASSERT_TRUE(
      lists.Add("2026-01-01", Book("us-east-1,ml.a,1,listed,\nus-east-1,ml.b,5,listed,\n")));
  ASSERT_TRUE(lists.Add("2026-03-01", Book("us-east-1,ml.a,2,listed,\n")));
  EXPECT_EQ(OnDemand(lists, "ml.a", "2026-02-28").nanos(), 1'000'000'000);
  EXPECT_EQ(OnDemand(lists, "ml.a", "2026-03-01").nanos(), 2'000'000'000);
  EXPECT_EQ(lists.Find("us-east-1", "ml.a", On("2026-03-01"))->date, "2026-03-01");
  EXPECT_EQ(lists.Find("us-east-1", "ml.b", On("2026-03-01"))->date, "2026-01-01")
      << "a list replaces price by price";
  EXPECT_EQ(lists.Find("us-east-1", "ml.a", On("2020-01-01"))->date, "2026-01-01")
      << "before the first list its prices count";
  EXPECT_FALSE(lists.Find("us-east-1", "ml.z", On("2026-03-01")));
}

TEST(PriceLists, ARegionThatNoListKnowsTakesThoseOfAnother) {
  PriceLists lists;
  ASSERT_TRUE(lists.Add("2026-01-01", Book("us-east-1,ml.a,1,listed,\n")));
  EXPECT_EQ(lists.Find("mars-1", "ml.a", On("2026-02-01"))->region, "us-east-1");
  ASSERT_TRUE(lists.Add("2026-03-01", Book("mars-1,ml.b,1,listed,\n")));
  EXPECT_FALSE(lists.Find("mars-1", "ml.a", On("2026-04-01")));
  EXPECT_EQ(lists.Find("mars-1", "ml.b", On("2026-04-01"))->region, "mars-1");
}

TEST(PriceLists, RefusesWhatIsNoDateAndTwoListsOfOne) {
  PriceLists lists = PriceLists::BuiltIn();
  for (const char* bad : {"", "2026", "2026-13-01", "2026-02-30", "yesterday", "2026-1-1"}) {
    EXPECT_EQ(lists.Add(bad, Book("")).error().code, ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(lists.Add(kBuiltInDate, Book("")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(lists.Find("us-west-2", "ml.m5.large", On("2026-12-01")));
}

}  // namespace
}  // namespace sabia::cost
