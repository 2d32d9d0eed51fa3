#include "cost/price_book.h"

#include <gtest/gtest.h>

namespace sabia::cost {
namespace {

constexpr std::string_view kHeader =
    "region,instance_type,usd_per_hour,basis,spot_saving_percent\n";

Result<PriceBook> Parse(std::string_view lines) {
  return PriceBook::Parse(std::string(kHeader) + std::string(lines));
}

TEST(PriceBook, BuiltInKnowsTheListedPrices) {
  const PriceBook book = PriceBook::BuiltIn();
  const Price* price = book.Find("us-west-2", "ml.m5.large");
  ASSERT_NE(price, nullptr);
  EXPECT_EQ(price->on_demand_per_hour, Money::FromNanos(115'000'000));
  EXPECT_EQ(price->basis, "listed");
  EXPECT_TRUE(book.HasRegion(kFallbackRegion));
  EXPECT_EQ(book.Find("us-west-2", "ml.none"), nullptr);
  EXPECT_EQ(book.Find("mars-1", "ml.m5.large"), nullptr);
}

TEST(PriceBook, SpotIsOnDemandLessTheSaving) {
  const auto book = Parse("r,a,0.115,listed,62\nr,b,2,derived,\n");
  ASSERT_TRUE(book.has_value());
  EXPECT_EQ(book->Find("r", "a")->SpotPerHour(), Money::FromNanos(43'700'000));
  EXPECT_FALSE(book->Find("r", "b")->spot_saving_percent.has_value());
  EXPECT_EQ(book->Find("r", "b")->SpotPerHour(), Money::FromNanos(2'000'000'000));
}

TEST(PriceBook, BadLinesAreNamed) {
  for (const char* bad :
       {"r,a,x,listed,\n", "r,a,-1,listed,\n", "r,a,,listed,\n", "r,a,1.0000000001,listed,\n",
        "r,a,1,listed,101\n", "r,a,1,listed\n", "r,a,1,listed,\nr,a,2,listed,\n"}) {
    const auto book = Parse(bad);
    ASSERT_FALSE(book.has_value()) << bad;
    EXPECT_EQ(book.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace sabia::cost
