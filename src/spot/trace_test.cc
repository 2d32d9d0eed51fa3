#include "spot/trace.h"

#include <gtest/gtest.h>

namespace sabia::spot {
namespace {

constexpr Millis kSecond{1000};

std::string ErrorOf(const Result<CapacityTrace>& trace) {
  return trace ? "" : trace.error().message;
}

void ExpectError(const Result<CapacityTrace>& trace, std::string_view part) {
  ASSERT_FALSE(trace.has_value()) << part;
  EXPECT_EQ(trace.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(ErrorOf(trace).starts_with("zone.json: ")) << ErrorOf(trace);
  EXPECT_NE(ErrorOf(trace).find(part), std::string::npos) << ErrorOf(trace);
}

Result<CapacityTrace> Json(std::string_view text, Sense sense = Sense::kAvailable) {
  return ParseAvailability("zone.json", text, sense);
}
Result<CapacityTrace> Events(std::string_view text) { return ParseFleetEvents("zone.json", text); }
Result<CapacityTrace> Counts(std::string_view text, TimeUnit unit = TimeUnit::kSeconds) {
  return ParseFleetCounts("zone.json", text, unit);
}

TEST(ParseAvailability, SamplesBecomeSteps) {
  const auto trace = Json(R"({"metadata":{"gap_seconds":600},"data":[1,1,0,0,4]})");
  ASSERT_TRUE(trace.has_value()) << ErrorOf(trace);
  EXPECT_EQ(trace->gap, 600 * kSecond);
  EXPECT_EQ(trace->length, 3000 * kSecond);
  ASSERT_EQ(trace->steps.size(), 3U);
  EXPECT_EQ(trace->At(Millis(0)), 1);
  EXPECT_EQ(trace->At(1199 * kSecond), 1);
  EXPECT_EQ(trace->At(1200 * kSecond), 0);
  EXPECT_EQ(trace->At(2999 * kSecond), 4);
}

TEST(ParseAvailability, RunsSayTheSame) {
  const auto plain = Json(R"({"metadata":{"gap_seconds":30.5},"data":[1,1,0,0,4]})");
  const auto runs =
      Json(R"({"metadata":{"gap_seconds":30.5},"samples":5,"rle":[[1,2],[0,1],[0,1],[4,1]]})");
  ASSERT_TRUE(plain.has_value() && runs.has_value()) << ErrorOf(runs);
  EXPECT_EQ(plain->length, runs->length);
  ASSERT_EQ(plain->steps.size(), runs->steps.size());
  for (std::size_t i = 0; i < plain->steps.size(); ++i) {
    EXPECT_EQ(plain->steps[i].at, runs->steps[i].at);
    EXPECT_EQ(plain->steps[i].instances, runs->steps[i].instances);
  }
}

TEST(ParseAvailability, TheOppositeSenseIsTurned) {
  const auto trace = Json(R"({"metadata":{"gap_seconds":60},"data":[1,0]})", Sense::kUnavailable);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->At(Millis(0)), 0);
  EXPECT_EQ(trace->At(60 * kSecond), 1);
  ExpectError(Json(R"({"metadata":{"gap_seconds":60},"data":[2]})", Sense::kUnavailable),
              "'data[0]' is 2: a whole number from 0 to 1");
}

TEST(ParseAvailability, MistakesAreNamed) {
  ExpectError(Json("["), "bad JSON at byte");
  ExpectError(Json("[]"), "not a JSON object");
  ExpectError(Json("{}"), "'metadata' is missing");
  ExpectError(Json(R"({"metadata":{}})"), "'metadata.gap_seconds'");
  ExpectError(Json(R"({"metadata":{"gap_seconds":0},"data":[1]})"), "0.001 to 86400");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1e9},"data":[1]})"), "0.001 to 86400");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1}})"), "'data' and 'rle'");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"data":[1],"rle":[[1,1]]})"), "'data' and");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"data":[]})"), "'data' has 0 entries");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"data":[1,-1]})"), "'data[1]' is -1");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"data":[1.5]})"), "'data[0]' is 1.5");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"data":[true]})"), "'data[0]' is true");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"data":[9999999]})"), "0 to 1000000");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"rle":[[1]]})"), "'rle[0]' is [1]");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"rle":[[1,0]]})"), "[instances, ticks]");
  ExpectError(Json(R"({"metadata":{"gap_seconds":1},"samples":3,"rle":[[1,2]]})"),
              "'samples' is 3, but 'rle' has 2 ticks");
  ExpectError(Json(R"({"metadata":{"gap_seconds":86400},"rle":[[1,5000000]]})"), "20 years");
}

TEST(ParseFleetEvents, CountsTheNodesThatAreThere) {
  const auto trace = Events("0,add,a\n0,add,b\n5000,remove,a\r\n\n9000,add,a\n");
  ASSERT_TRUE(trace.has_value()) << ErrorOf(trace);
  EXPECT_EQ(trace->length, Millis(9000));
  EXPECT_EQ(trace->At(Millis(0)), 2);
  EXPECT_EQ(trace->At(Millis(5000)), 1);
  EXPECT_EQ(trace->At(Millis(9000)), 2);
}

TEST(ParseFleetEvents, MistakesAreNamed) {
  ExpectError(Events("0,add\n"), "line 1: not 'milliseconds,add|remove,node'");
  ExpectError(Events("0,add,a\nx,add,b\n"), "line 2: 'x' is no time");
  ExpectError(Events("-1,add,a\n"), "line 1: '-1' is no time");
  ExpectError(Events("5,add,a\n4,add,b\n"), "line 2: earlier");
  ExpectError(Events("5,grow,a\n"), "line 1: 'grow' must be 'add' or 'remove'");
  ExpectError(Events("5,add,a\n6,add,a\n"), "line 2: 'a' is added, but it is there");
  ExpectError(Events("5,remove,a\n"), "line 1: 'a' is removed, but it is not there");
  ExpectError(Events(""), "no event after time 0");
}

TEST(ParseFleetCounts, ReadsStepsInSecondsOrDays) {
  const auto seconds = Counts("0.000,0\n0.5,0\n0.5,9\n2,7\n");
  ASSERT_TRUE(seconds.has_value()) << ErrorOf(seconds);
  EXPECT_EQ(seconds->At(Millis(499)), 0);
  EXPECT_EQ(seconds->At(Millis(500)), 9);
  EXPECT_EQ(seconds->At(Millis(2000)), 7);
  const auto days = Counts("0,1\n1,2\n", TimeUnit::kDays);
  ASSERT_TRUE(days.has_value());
  EXPECT_EQ(days->length, Millis(86'400'000));
}

TEST(ParseFleetCounts, MistakesAreNamed) {
  ExpectError(Counts("0\n"), "line 1: not 'time,count'");
  ExpectError(Counts("nan,1\n"), "line 1: 'nan' is no time");
  ExpectError(Counts("1,1\n0,1\n"), "line 2: earlier");
  ExpectError(Counts("1,x\n"), "line 1: 'x' is no count");
  ExpectError(Counts("1,-1\n"), "line 1: '-1' is no count");
  ExpectError(Counts("0,1\n"), "no line after time 0");
  ExpectError(Counts("1e300,1\n"), "is no time");
}

TEST(ParsePrices, TakesTheSeriesOfAZoneInOrderOfTime) {
  const std::string text =
      "Timestamp,InstanceType,ProductDescription,SpotPrice,AvailabilityZone\n"
      "2023-12-30 21:17:02+00:00,c5a.2xlarge,Linux/UNIX,0.156700,us-east-1e\n"
      "2023-12-30 21:02:57+00:00,c5a.2xlarge,Linux/UNIX,0.1696,us-east-1c\n"
      "2023-12-29 21:02:57+00:00,c5a.2xlarge,Linux/UNIX,0.1848,us-east-1e\n";
  const auto prices = ParsePrices("p.csv", text, {.zone = "us-east-1e"});
  ASSERT_TRUE(prices.has_value()) << prices.error().message;
  ASSERT_EQ(prices->size(), 2U);
  EXPECT_EQ((*prices)[0].per_hour, Money::FromNanos(184'800'000));
  EXPECT_EQ(FormatIso8601Seconds((*prices)[1].at), "2023-12-30T21:17:02Z");
  const auto several = ParsePrices("p.csv", text, {});
  ASSERT_FALSE(several.has_value());
  EXPECT_EQ(several.error().message, "p.csv: line 3: there are several zones: choose one");
  const auto none = ParsePrices("p.csv", text, {.zone = "mars-1a"});
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("no price of the zone"), std::string::npos);
}

TEST(ParsePrices, MistakesAreNamed) {
  const auto error = [](std::string_view text) {
    const auto prices = ParsePrices("p.csv", text, {});
    return prices ? std::string() : prices.error().message;
  };
  EXPECT_EQ(error(""), "p.csv: the file is empty");
  EXPECT_NE(error("a,b\n").find("line 1: the header must name"), std::string::npos);
  const std::string head = "timestamp,spot_usd_per_hour\n";
  EXPECT_NE(error(head + "2015-03-11T16:53:20Z\n").find("line 2: 1 fields instead of 2"),
            std::string::npos);
  EXPECT_NE(error(head + "yesterday,1\n").find("line 2: 'yesterday' is no time"),
            std::string::npos);
  EXPECT_NE(error(head + "2015-03-11T16:53:20Z,-1\n").find("line 2: '-1' is no price"),
            std::string::npos);
  EXPECT_NE(error(head + "2015-03-11T16:53:20Z,inf\n").find("is no price"), std::string::npos);
  EXPECT_NE(error(head).find("no price"), std::string::npos);
}

}  // namespace
}  // namespace sabia::spot
