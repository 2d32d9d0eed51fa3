#include "fleet/spot_markets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const WallTime kNow = FromUnixMillis(1'780'000'000'000);

SpotMarkets::Context Context() {
  return {
      .region = "us-west-2",
      .prices = [](const std::string&,
                   const std::string& type) -> std::optional<spot::InstancePrices> {
        if (type == "ml.unknown") return std::nullopt;
        return spot::InstancePrices{Money::FromNanos(1'000'000'000), Money::FromNanos(300'000'000)};
      },
      .read = [](const std::string& name) -> Result<std::string> {
        if (name == "trace") return R"({"metadata":{"gap_seconds":600},"data":[2,0]})";
        return Fail(ErrorCode::kNotFound, "there is no file '{}'", name);
      }};
}

std::unique_ptr<SpotMarkets> Document(std::string_view text) {
  auto out = SpotMarkets::FromDocument(text, Context());
  EXPECT_TRUE(out) << out.error().message;
  return std::move(*out);
}

std::string WhyNot(std::string_view text) {
  const auto out = SpotMarkets::IsShortForm(text) ? SpotMarkets::FromShortForm(text, Context())
                                                  : SpotMarkets::FromDocument(text, Context());
  return out ? "accepted" : out.error().message;
}

TEST(SpotMarkets, NoneDecidesNothing) {
  for (const char* text : {"none", "command"}) {
    const auto markets = SpotMarkets::FromShortForm(text, Context());
    ASSERT_TRUE(markets);
    EXPECT_FALSE((*markets)->Decides({{"ml.m5.large", 1}}));
    EXPECT_EQ((*markets)->GangIn("us-west-2a", {{"ml.m5.large", 2}})->At(kNow).per_hour,
              Money::FromNanos(600'000'000));
  }
}

TEST(SpotMarkets, TheFirstEntryThatFitsCounts) {
  const auto markets = Document(R"({"zones": ["x", "y"], "markets": [
      {"instance_type": "ml.p3.2xlarge", "zone": "y", "kind": "trace", "file": "trace"},
      {"instance_type": "ml.p3.2xlarge", "kind": "command"}]})");
  EXPECT_THAT(markets->zones(), ElementsAre("x", "y"));
  EXPECT_TRUE(markets->Decides({{"ml.p3.2xlarge", 1}}));
  EXPECT_FALSE(markets->Decides({{"ml.m5.large", 1}}));
  EXPECT_EQ(markets->GangIn("x", {{"ml.p3.2xlarge", 9}})->NextChange(kNow), std::nullopt);
  const auto traced = markets->GangIn("y", {{"ml.p3.2xlarge", 2}});
  const auto change = traced->NextChange(kNow);
  ASSERT_TRUE(change);
  EXPECT_NE(traced->At(kNow).instances, traced->At(*change).instances);
  EXPECT_EQ(markets->GangIn("y", {{"ml.p3.2xlarge", 3}})->NextChange(kNow), std::nullopt);
}

TEST(SpotMarkets, AreTheSameAfterARestart) {
  const auto one = SpotMarkets::FromShortForm("poisson:mtbf=1h,return=20m,seed=7", Context());
  const auto two = SpotMarkets::FromShortForm("poisson:MTBF=60m,return=1200s,seed=7", Context());
  const auto other = SpotMarkets::FromShortForm("poisson:mtbf=1h,return=20m,seed=8", Context());
  ASSERT_TRUE(one && two && other) << one.error().message;
  const InstanceCounts job{{"ml.m5.large", 1}};
  const auto change = [&](const auto& markets, const char* zone) {
    return (*markets)->GangIn(zone, job)->NextChange(kNow);
  };
  EXPECT_EQ(change(one, "us-west-2a"), change(two, "us-west-2a"));
  EXPECT_NE(change(one, "us-west-2a"), change(one, "us-west-2b"));
  EXPECT_NE(change(one, "us-west-2a"), change(other, "us-west-2a"));
  EXPECT_THAT((*SpotMarkets::FromShortForm("poisson:mtbf=1h,zones=2", Context()))->zones(),
              ElementsAre("us-west-2a", "us-west-2b"));
}

TEST(SpotMarkets, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(WhyNot("poisson:"), HasSubstr("mtbf is '': the mean time between interruptions"));
  EXPECT_THAT(WhyNot("poisson:mtbf=2"), HasSubstr("mtbf is '2': a number and its unit"));
  EXPECT_THAT(WhyNot("poisson:mtbf=-2h"), HasSubstr("mtbf is '-2h'"));
  EXPECT_THAT(WhyNot("poisson:mtbf=nanh"), HasSubstr("mtbf is 'nanh'"));
  EXPECT_THAT(WhyNot("poisson:mtbf=2h,mtbf=3h"), HasSubstr("twice"));
  EXPECT_THAT(WhyNot("poisson:mtbf=2h,retrun=3m"),
              HasSubstr("retrun=3m': one of mtbf, return, seed, zones"));
  EXPECT_THAT(WhyNot("poisson:mtbf=2h,zones=27"), HasSubstr("zones is '27': 1 to 26"));
  EXPECT_THAT(WhyNot("poisson:mtbf=2h,seed=x"), HasSubstr("seed is 'x': a whole number"));
  EXPECT_THAT(WhyNot("poisson:mtbf=0.1s"), HasSubstr("hours_between_interruptions"));
  EXPECT_THAT(WhyNot(R"({"market": []})"), HasSubstr("market"));
  EXPECT_THAT(WhyNot(R"({"zones": []})"), HasSubstr("zones has 0 entries"));
  EXPECT_THAT(WhyNot(R"({"zones": ["a", "a"]})"), HasSubstr(R"(zones has "a")"));
  EXPECT_THAT(WhyNot(R"({"zones": ["a"], "markets": [{"zone": "b"}]})"),
              HasSubstr("markets[0].zone is 'b': a"));
  EXPECT_THAT(WhyNot(R"({"markets": [{"kind": "posson"}]})"), HasSubstr("markets[0].kind"));
  EXPECT_THAT(WhyNot(R"({"markets": [{"kind": "trace", "file": "gone"}]})"),
              HasSubstr("there is no file 'gone'"));
  EXPECT_THAT(WhyNot(R"({"markets": [{"kind": "none", "hours": 1}]})"), HasSubstr("hours"));
}

TEST(SpotMarkets, TellPeopleWhatWasSeen) {
  const auto markets = Document(R"({"zones": ["x", "y"], "history_days": 7, "markets": [
      {"zone": "y", "kind": "trace", "file": "trace"}]})");
  const json::object out = markets->Describe("ml.p3.2xlarge", kNow);
  const json::array& zones = *FindArray(out, "Zones");
  ASSERT_EQ(zones.size(), 2u);
  EXPECT_EQ(GetString(zones[0].as_object(), "Kind"), "none");
  EXPECT_NEAR(GetDouble(zones[0].as_object(), "AvailablePercent"), 100, 0.01);
  EXPECT_NEAR(GetDouble(zones[1].as_object(), "AvailablePercent"), 50, 1);
  EXPECT_GT(GetInt(zones[1].as_object(), "Interruptions"), 500);
  EXPECT_EQ(GetDouble(out, "OnDemandUsdPerHour"), 1.0);
}

TEST(InstancesOf, CountsOverGroups) {
  model::TrainingJob job;
  job.request = *ParseJsonObject(R"({"ResourceConfig":{"InstanceGroups":[
      {"InstanceCount":2,"InstanceType":"ml.a","InstanceGroupName":"a"},
      {"InstanceCount":1,"InstanceType":"ml.b","InstanceGroupName":"b"}]}})");
  EXPECT_EQ(InstancesOf(job), (InstanceCounts{{"ml.a", 2}, {"ml.b", 1}}));
}

}  // namespace
}  // namespace sabia::fleet
