#include "spot/simulation.h"

#include <gtest/gtest.h>

#include "spot/testing/ticks.h"

namespace sabia::spot {
namespace {

using testing::Dollars;

Result<std::string> NoFile(const std::string& name) {
  return Fail(ErrorCode::kNotFound, "no such file '{}'", name);
}
std::optional<InstancePrices> Prices(const std::string& region, const std::string& type) {
  if (region == "mars-1" || type != "ml.p3.2xlarge") return std::nullopt;
  return InstancePrices{Dollars(3), Dollars(1)};
}
Result<Simulation> Parse(std::string_view text) { return ParseSimulation(text, NoFile, Prices); }

std::string ErrorOf(std::string_view text) {
  const auto simulation = Parse(text);
  EXPECT_FALSE(simulation.has_value()) << text;
  if (simulation) return "";
  return simulation.error().message;
}
// A document with one job, to which members are added.
std::string Job(std::string_view more, std::string_view world = "") {
  return fmt::format(R"({{{}"tick_seconds": 600, "jobs": [{{"instance_type": "ml.p3.2xlarge",)"
                     R"( "work_hours": 4, "deadline_hours": 8{}}}]}})",
                     world, more);
}

TEST(Simulation, AScheduleCostsExactlyThis) {
  // 4 h of work without changeovers; spot is away from 2 h to 4 h after the begin.
  const auto simulation = Parse(Job(R"(, "changeover_minutes": 0, "instance_count": 2)",
                                    R"("markets": [{"kind": "schedule", "outages": [{
      "from": "2026-01-01T02:00:00Z", "until": "2026-01-01T04:00:00Z"}]}],)"));
  ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
  const auto reports = RunSimulation(*simulation);
  ASSERT_EQ(reports.size(), 6U);
  EXPECT_EQ(reports[0].policy, "on-demand");
  EXPECT_EQ(reports[0].cost(), Dollars(4 * 2 * 3));
  EXPECT_EQ(reports[1].policy, "greedy");
  EXPECT_NEAR(reports[1].cost().dollars(), 4 * 2, 1e-6);
  EXPECT_EQ(reports[1].reclaims, 1);
  EXPECT_EQ(reports[1].waiting_time, 2 * testing::kHour);
  EXPECT_EQ(reports[5].policy, "omniscient");
  EXPECT_NEAR(reports[5].cost().dollars(), 4 * 2, 1e-6);
  for (const PolicyReport& report : reports) {
    EXPECT_EQ(report.deadlines_missed, 0);
    EXPECT_EQ(report.jobs, 1);
    EXPECT_EQ(report.months.at("2026-01"), report.cost());
  }
}

TEST(Simulation, LostWorkAndChangeoversAreParts) {
  const auto simulation =
      Parse(Job(R"(, "changeover_minutes": 10, "checkpoint_minutes": 50)",
                R"("policies": ["greedy"], "markets": [{"kind": "schedule", "outages": [{
      "from": "2026-01-01T02:00:00Z", "until": "2026-01-01T03:00:00Z"}]}],)"));
  ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
  const auto reports = RunSimulation(*simulation);
  ASSERT_EQ(reports.size(), 2U);
  const PolicyReport& greedy = reports[1];
  // 110 minutes of work, of which 10 are lost; then 10 + 140.
  EXPECT_EQ(greedy.lost_work, 10 * testing::kMinute);
  EXPECT_EQ(greedy.changeover_time, 20 * testing::kMinute);
  EXPECT_EQ(greedy.spot_time, (120 + 150) * testing::kMinute);
  EXPECT_NEAR(greedy.changeover_cost.dollars(), 1.0 / 3, 1e-6);
}

constexpr std::string_view kMonth = R"({"seed": 5, "tick_seconds": 600, "jobs": [{
    "instance_type": "ml.p3.2xlarge", "work_hours": 10, "deadline_hours": 14, "work_error": 0.1,
    "work_spread": 0.1, "arrivals": {"count": 20, "mean_hours_between": 24}}],
  "markets": [{"instance_type": "ml.p3.2xlarge", "zone": "us-east-1a", "kind": "poisson",
               "hours_between_interruptions": 1, "hours_until_return": 0.7}]})";

TEST(Simulation, TheSameSeedGivesTheSameReport) {
  const auto run = [](std::string_view text) {
    const auto simulation = Parse(text);
    EXPECT_TRUE(simulation.has_value()) << simulation.error().message;
    return json::serialize(ToJson(*simulation, RunSimulation(*simulation)));
  };
  EXPECT_EQ(run(kMonth), run(kMonth));
  std::string other(kMonth);
  other.replace(other.find("\"seed\": 5"), 9, "\"seed\": 6");
  EXPECT_NE(run(kMonth), run(other));
}

TEST(Simulation, NobodyIsLateAndTheBoundIsABound) {
  const auto simulation = Parse(kMonth);
  ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
  const auto reports = RunSimulation(*simulation);
  for (const PolicyReport& report : reports) {
    EXPECT_EQ(report.jobs, 20);
    EXPECT_EQ(report.deadlines_missed, 0) << report.policy;
    EXPECT_GE(report.cost(), reports.back().cost()) << report.policy;
    EXPECT_LE(report.cost().dollars(), 1.1 * reports.front().cost().dollars()) << report.policy;
  }
}

TEST(Simulation, TheReportNamesWhatItTells) {
  const auto simulation = Parse(Job(""));
  ASSERT_TRUE(simulation.has_value());
  const json::object report = ToJson(*simulation, RunSimulation(*simulation));
  EXPECT_EQ(GetInt(report, "Jobs"), 1);
  const json::object& greedy = (*FindArray(report, "Policies"))[1].as_object();
  for (const char* member :
       {"CostUsd", "CostUsdPerMonth", "SavingPercent", "SpotUsd", "OnDemandUsd", "ChangeoverUsd",
        "LostWorkUsd", "SpotHours", "WaitingHours"}) {
    EXPECT_TRUE(greedy.contains(member)) << member;
  }
  EXPECT_NE(json::serialize(report).find("spot is always there"), std::string::npos);
}

TEST(Simulation, MistakesInTheWorldAreNamed) {
  EXPECT_NE(ErrorOf("[").find("bad JSON"), std::string::npos);
  EXPECT_NE(ErrorOf("{}").find("jobs is missing"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"jobs": []})").find("jobs is missing"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"jobs": {}})").find("jobs is {}: a list"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"jobs": [1]})").find("jobs[0] is 1: an object"), std::string::npos);
  EXPECT_NE(ErrorOf(Job("", R"("sead": 1,)")).find("unknown member 'sead'"), std::string::npos);
  EXPECT_NE(ErrorOf(Job("", R"("seed": -1,)")).find("seed is -1: a whole number from 0"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Job("", R"("begin": "noon",)")).find("begin is \"noon\": a time"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Job("", R"("policies": ["gredy"],)")).find("policies[0] is \"gredy\": one of"),
            std::string::npos);
}

TEST(Simulation, MistakesInAJobAreNamed) {
  EXPECT_NE(ErrorOf(Job(R"(, "arrivals": {"count": 0})")).find("jobs[0].arrivals.count is 0"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Job(R"(, "arrivals": {"count": 2, "every_hours": 1, "mean_hours_between": 1})"))
                .find("has both"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Job(R"(, "work_spread": 0.2)")).find("jobs[0].work_spread is more than"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Job(R"(, "work_error": 2)")).find("jobs[0].deadline_hours does not do"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Job(R"(, "colour": "red")")).find("jobs[0] has an unknown member 'colour'"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Job("", R"("region": "mars-1",)")).find("no price is known for it in mars-1"),
            std::string::npos);
}

TEST(Simulation, MistakesInAMarketAreNamed) {
  const auto error = [](std::string_view market) {
    return ErrorOf(Job("", fmt::format(R"("markets": [{}],)", market)));
  };
  EXPECT_NE(error(R"({"kind": "chaos"})").find("markets[0].kind is 'chaos': one of none, poisson"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"kind": "poisson"})").find("markets[0].hours_between_interruptions is missing"),
      std::string::npos);
  EXPECT_NE(
      error(R"({"kind": "poisson", "hours_between_interruptions": 1, "hours_until_return": 0})")
          .find("markets[0].hours_until_return is 0"),
      std::string::npos);
  EXPECT_NE(error(R"({"kind": "trace", "file": "gone.json"})").find("no such file 'gone.json'"),
            std::string::npos);
  EXPECT_NE(error(R"({"kind": "trace", "file": "a", "format": "fleet-events",
                      "one_means": "unavailable"})")
                .find("markets[0].one_means is for the format 'availability' only"),
            std::string::npos);
  EXPECT_NE(error(R"({"kind": "prices", "file": "a"})").find("max_usd_per_hour is missing"),
            std::string::npos);
  EXPECT_NE(error(R"({"kind": "schedule", "outages": [{"from": "2026-01-01T00:00:00Z"}]})")
                .find("markets[0].outages[0].until is missing"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"kind": "none", "file": "a"})").find("markets[0] has an unknown member 'file'"),
      std::string::npos);
  EXPECT_NE(error(R"({"kind": "none", "zone": "eu-west-1c"})").find("markets[0] is of no job"),
            std::string::npos);
}

TEST(Simulation, RecordingsAndPricesAreRead) {
  const ReadFile read = [](const std::string& name) -> Result<std::string> {
    if (name == "zone.json")
      return std::string(R"({"metadata":{"gap_seconds":3600},"data":[1,0]})");
    if (name == "fleet.csv") return std::string("0,add,a\n3600000,remove,a\n7200000,add,a\n");
    if (name == "counts.csv") return std::string("0,1\n0.5,0\n1,1\n");
    return std::string(
        "timestamp,spot_usd_per_hour\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,9\n"
        "2026-01-01T02:00:00Z,1\n");
  };
  for (
      const char* market :
      {R"({"kind": "trace", "file": "zone.json"})",
       R"({"kind": "trace", "file": "zone.json", "one_means": "unavailable", "after_end": "hold"})",
       R"({"kind": "trace", "file": "fleet.csv", "format": "fleet-events"})",
       R"({"kind": "trace", "file": "counts.csv", "format": "fleet-counts", "time_unit": "days"})",
       R"({"kind": "prices", "file": "prices.csv", "max_usd_per_hour": 2})",
       R"({"kind": "command"})"}) {
    const auto simulation =
        ParseSimulation(Job("", fmt::format(R"("markets": [{}],)", market)), read, Prices);
    ASSERT_TRUE(simulation.has_value()) << market << simulation.error().message;
    for (const PolicyReport& report : RunSimulation(*simulation)) {
      EXPECT_EQ(report.deadlines_missed, 0) << market;
    }
  }
}

}  // namespace
}  // namespace sabia::spot
