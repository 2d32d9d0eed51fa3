#include "api/cost_explorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/billing.h"
#include "store/testing/state.h"
#include "store/training_job_row.h"

namespace sabia::api {
namespace {

using model::LedgerEntry;
using model::LedgerKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const WallTime kNow = *ParseIso8601("2026-12-10T12:00:00Z");
WallTime At(std::string_view text) { return *ParseIso8601(text); }

class CostExplorerTest : public ::testing::Test {
 protected:
  CostExplorerTest() { RegisterCostExplorer(table_, {state_.resources(), ledger_, prices_}); }

  struct Use {
    std::string instance;
    const char* from;
    const char* to;
    LedgerKind kind = LedgerKind::kOnDemand;
    std::string type = "ml.m5.large";
    store::Tags tags = {};
    std::string region = "us-east-1";
  };
  void Record(const Use& use) {
    LedgerEntry entry;
    entry.instance = use.instance;
    entry.kind = use.kind;
    entry.job_name = use.instance;
    entry.job_arn = "arn:" + use.instance;
    entry.region = use.region;
    entry.account = "123456789012";
    entry.instance_type = use.type;
    entry.waited_from = entry.start = At(use.from);
    entry.end = At(use.to);
    entry.on_demand_per_hour = Money::FromNanos(115'000'000);
    entry.per_hour = Money::FromNanos(use.kind == LedgerKind::kSpot ? 43'700'000 : 115'000'000);
    store::Change change;
    change.resource = {.name = use.instance, .live = false, .document = "{}"};
    change.arn = entry.job_arn;
    change.tags = use.tags;
    change.ledger = {entry};
    ASSERT_TRUE(state_.resources().Commit({change}));
  }

  wire::AwsResult<json::object> Call(const char* action, std::string_view request) {
    wire::CallContext context;
    context.principal.account = "123456789012";
    context.now = kNow;
    return (*table_.Find("ce", action))(context, *ParseJsonObject(request));
  }
  json::object Ask(const char* action, std::string_view request) {
    auto answer = Call(action, request);
    if (!answer) ADD_FAILURE() << answer.error().message;
    return answer ? std::move(*answer) : json::object();
  }
  std::string Refusal(std::string_view request, const char* action = "GetCostAndUsage") {
    const auto answer = Call(action, request);
    return answer ? "accepted" : answer.error().code + ": " + answer.error().message;
  }
  static std::string Text(const json::value& value) { return json::serialize(value); }
  // "Start key,key amount" per row.
  static std::vector<std::string> Rows(const json::object& answer, const char* metric) {
    std::vector<std::string> out;
    for (const json::value& result : answer.at("ResultsByTime").as_array()) {
      const std::string start(View(result.at("TimePeriod").at("Start").as_string()));
      if (!result.at("Total").as_object().empty()) {
        out.push_back(start + " " +
                      std::string(View(result.at("Total").at(metric).at("Amount").as_string())));
      }
      for (const json::value& group : result.at("Groups").as_array()) {
        std::string keys;
        for (const json::value& key : group.at("Keys").as_array())
          keys += (keys.empty() ? "" : ",") + std::string(View(key.as_string()));
        out.push_back(start + " " + keys + " " +
                      std::string(View(group.at("Metrics").at(metric).at("Amount").as_string())));
      }
    }
    return out;
  }

  store::testing::TemporaryState state_;
  store::Ledger ledger_{state_.database()};
  cost::PriceLists prices_ = cost::PriceLists::BuiltIn();
  wire::ActionTable table_;
};

TEST_F(CostExplorerTest, DaysAddUpToTheMonth) {
  Record({"a-1-1", "2026-12-01T22:30:00Z", "2026-12-03T01:30:00.001Z"});
  Record({"b-1-1", "2026-12-02T00:00:00Z", "2026-12-02T01:00:00Z", LedgerKind::kSpot});
  const auto days = Ask("GetCostAndUsage",
                        R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-05"},
                            "Granularity":"DAILY","Metrics":["UnblendedCost","UsageQuantity"]})");
  EXPECT_THAT(Rows(days, "UnblendedCost"), ElementsAre("2026-12-01 0.1725", "2026-12-02 2.8037",
                                                       "2026-12-03 0.172500032", "2026-12-04 0"));
  EXPECT_THAT(Rows(days, "UsageQuantity"), ElementsAre("2026-12-01 1.5", "2026-12-02 25",
                                                       "2026-12-03 1.5000002778", "2026-12-04 0"));
  const auto month = Ask("GetCostAndUsage",
                         R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-05"},
                             "Granularity":"MONTHLY","Metrics":["BLENDED_COST"]})");
  EXPECT_THAT(Rows(month, "BlendedCost"), ElementsAre("2026-12-01 3.148700032"));
  EXPECT_EQ(Text(month.at("ResultsByTime").at(0)),
            R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-05"},"Total":{"BlendedCost":)"
            R"({"Amount":"3.148700032","Unit":"USD"}},"Groups":[],"Estimated":false})");
}

TEST_F(CostExplorerTest, HoursOfTheLastTwoWeeks) {
  Record({"a-1-1", "2026-12-09T22:30:00Z", "2026-12-10T00:15:00Z"});
  const auto hours =
      Ask("GetCostAndUsage",
          R"({"TimePeriod":{"Start":"2026-12-09T22:00:00Z","End":"2026-12-10T01:00:00Z"},
              "Granularity":"HOURLY","Metrics":["UsageQuantity"]})");
  EXPECT_THAT(Rows(hours, "UsageQuantity"),
              ElementsAre("2026-12-09T22:00:00Z 0.5", "2026-12-09T23:00:00Z 1",
                          "2026-12-10T00:00:00Z 0.25"));
}

TEST_F(CostExplorerTest, GroupsByDimensionAndTag) {
  const store::Tags ml{{"team", "ml"}};
  Record({"a-1-1", "2026-12-01T00:00:00Z", "2026-12-01T01:00:00Z", LedgerKind::kSpot, "ml.m5.large",
          ml, "us-west-2"});
  Record({"b-1-1", "2026-12-01T00:00:00Z", "2026-12-01T02:00:00Z"});
  Record({"c-1-1", "2026-12-01T00:00:00Z", "2026-12-01T04:00:00Z", LedgerKind::kWarmPool});
  const auto by = [&](const char* groups) {
    return Rows(Ask("GetCostAndUsage",
                    std::string(R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-02"},
                        "Granularity":"DAILY","Metrics":["UsageQuantity"],"GroupBy":)") +
                        groups + "}"),
                "UsageQuantity");
  };
  EXPECT_THAT(by(R"([{"Type":"DIMENSION","Key":"SERVICE"}])"),
              ElementsAre("2026-12-01 Amazon SageMaker 7"));
  EXPECT_THAT(by(R"([{"Type":"DIMENSION","Key":"USAGE_TYPE"}])"),
              ElementsAre("2026-12-01 USE1-Train:ml.m5.large 2",
                          "2026-12-01 USE1-TrainWarmPool:ml.m5.large 4",
                          "2026-12-01 USW2-TrSpt:ml.m5.large 1"));
  EXPECT_THAT(
      by(R"([{"Type":"DIMENSION","Key":"PURCHASE_TYPE"},{"Type":"TAG","Key":"team"}])"),
      ElementsAre("2026-12-01 On Demand Instances,team$ 6", "2026-12-01 Spot Instances,team$ml 1"));
}

TEST_F(CostExplorerTest, FiltersNest) {
  Record({"a-1-1",
          "2026-12-01T00:00:00Z",
          "2026-12-01T01:00:00Z",
          LedgerKind::kSpot,
          "ml.m5.large",
          {{"team", "ml"}}});
  Record({"b-1-1",
          "2026-12-01T00:00:00Z",
          "2026-12-01T02:00:00Z",
          LedgerKind::kOnDemand,
          "ml.c5.xlarge",
          {{"team", "ops"}}});
  Record({"c-1-1", "2026-12-01T00:00:00Z", "2026-12-01T04:00:00Z"});
  const auto hours = [&](const char* filter) {
    return Rows(Ask("GetCostAndUsage",
                    std::string(R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-02"},
                        "Granularity":"DAILY","Metrics":["UsageQuantity"],"Filter":)") +
                        filter + "}"),
                "UsageQuantity")
        .front();
  };
  EXPECT_EQ(hours(R"({"Dimensions":{"Key":"INSTANCE_TYPE","Values":["ml.m5.large","x"]}})"),
            "2026-12-01 5");
  EXPECT_EQ(hours(R"({"Not":{"Tags":{"Key":"team","Values":["ml"]}}})"), "2026-12-01 6");
  EXPECT_EQ(hours(R"({"Tags":{"Key":"team","MatchOptions":["ABSENT"]}})"), "2026-12-01 4");
  EXPECT_EQ(hours(R"({"Dimensions":{"Key":"INSTANCE_TYPE","Values":["ML.C5"],
                      "MatchOptions":["STARTS_WITH","CASE_INSENSITIVE"]}})"),
            "2026-12-01 2");
  EXPECT_EQ(hours(R"({"And":[{"Or":[{"Tags":{"Key":"team","Values":["ml"]}},
                                    {"Tags":{"Key":"team","Values":["ops"]}}]},
                             {"Dimensions":{"Key":"PURCHASE_TYPE",
                                            "Values":["Spot Instances"]}}]})"),
            "2026-12-01 1");
}

TEST_F(CostExplorerTest, WhatRunsIsEstimated) {
  model::TrainingJob job;
  job.uid = "0123456789ab";
  job.name = "runs";
  job.arn = "arn:runs";
  job.region = "us-east-1";
  job.account = "123456789012";
  job.created = kNow - Seconds(3'700);
  job.phase = model::TrainingPhase::kTraining;
  job.request = {{"ResourceConfig", {{"InstanceType", "ml.m5.large"}, {"InstanceCount", 2}}}};
  job.attempts = {{1, false, kNow - Seconds(3'650), kNow - Seconds(3'600), {}, ""}};
  store::Change change;
  change.resource = store::RowOf(job, 0);
  change.arn = job.arn;
  change.tags = {{"team", "ml"}};
  ASSERT_TRUE(state_.resources().Commit({change}));
  const char* request = R"({"TimePeriod":{"Start":"2026-12-10","End":"2026-12-11"},
      "Granularity":"DAILY","Metrics":["UnblendedCost"],"GroupBy":[{"Type":"TAG","Key":"team"}]})";
  auto answer = Ask("GetCostAndUsage", request);
  EXPECT_THAT(Rows(answer, "UnblendedCost"), ElementsAre("2026-12-10 team$ml 0.23"));
  EXPECT_TRUE(answer.at("ResultsByTime").at(0).at("Estimated").as_bool());
  // It ends, and its lines are in the ledger: counted once.
  job.attempts[0].ended = kNow;
  change.op = store::Change::Op::kUpdate;
  change.resource = store::RowOf(job, 1);
  change.tags.clear();
  change.ledger = cost::EntriesOfJob(prices_, job, kNow);
  ASSERT_TRUE(state_.resources().Commit({change}));
  EXPECT_THAT(Rows(Ask("GetCostAndUsage", request), "UnblendedCost"),
              ElementsAre("2026-12-10 team$ml 0.23"));
}

TEST_F(CostExplorerTest, PagesAreCutAndContinued) {
  constexpr int kJobs = 1'300;
  for (int i = 0; i < kJobs; ++i) {
    Record({fmt::format("u{:04}-1-1", i),
            "2026-12-01T00:00:00Z",
            "2026-12-02T12:00:00Z",
            LedgerKind::kOnDemand,
            "ml.m5.large",
            {{"n", fmt::format("{:04}", i)}}});
  }
  json::object request = *ParseJsonObject(
      R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-03"},"Granularity":"DAILY",
          "Metrics":["UsageQuantity"],"GroupBy":[{"Type":"TAG","Key":"n"}]})");
  std::vector<std::string> rows;
  int pages = 0;
  while (true) {
    const json::object page = Ask("GetCostAndUsage", json::serialize(request));
    for (std::string& row : Rows(page, "UsageQuantity")) rows.push_back(std::move(row));
    ++pages;
    if (!page.contains("NextPageToken")) break;
    request["NextPageToken"] = page.at("NextPageToken");
    ASSERT_LT(pages, 10);
  }
  EXPECT_EQ(pages, 3);
  ASSERT_EQ(rows.size(), 2u * kJobs);
  EXPECT_EQ(rows.front(), "2026-12-01 n$0000 24");
  EXPECT_EQ(rows.back(), "2026-12-02 n$1299 12");
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  request["Granularity"] = "MONTHLY";
  EXPECT_THAT(Refusal(json::serialize(request)), HasSubstr("RequestChangedException"));
  request["NextPageToken"] = "made up";
  EXPECT_THAT(Refusal(json::serialize(request)), HasSubstr("InvalidNextTokenException"));
}

TEST_F(CostExplorerTest, ListsTheValuesOfDimensionsAndTags) {
  Record({"a-1-1",
          "2026-12-01T00:00:00Z",
          "2026-12-01T01:00:00Z",
          LedgerKind::kSpot,
          "ml.m5.large",
          {{"team", "ml"}, {"project", "x"}}});
  Record({"b-1-1", "2026-12-01T00:00:00Z", "2026-12-01T02:00:00Z", LedgerKind::kOnDemand,
          "ml.c5.xlarge"});
  Record({"c-1-1", "2026-11-01T00:00:00Z", "2026-11-01T02:00:00Z", LedgerKind::kOnDemand,
          "ml.p3.2xlarge"});
  const auto december = [](const std::string& more) {
    return R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-02"})" + more + "}";
  };
  const auto types = [&](const std::string& more) {
    return Text(Ask("GetDimensionValues", december(R"(,"Dimension":"INSTANCE_TYPE")" + more)));
  };
  EXPECT_EQ(types(""),
            R"({"ReturnSize":2,"TotalSize":2,"DimensionValues":[{"Value":"ml.c5.xlarge",)"
            R"("Attributes":{}},{"Value":"ml.m5.large","Attributes":{}}]})");
  EXPECT_THAT(types(R"(,"SearchString":"M5")"), HasSubstr(R"("TotalSize":1)"));
  EXPECT_THAT(types(R"(,"MaxResults":1)"), HasSubstr(R"("ReturnSize":1,"TotalSize":2)"));
  EXPECT_THAT(types(R"(,"Context":"RESERVATIONS")"), HasSubstr(R"("TotalSize":0)"));
  EXPECT_THAT(
      types(R"(,"SortBy":[{"Key":"UsageQuantity","SortOrder":"ASCENDING"}],"MaxResults":1)"),
      HasSubstr("ml.m5.large"));
  EXPECT_EQ(Text(Ask("GetTags", december(""))),
            R"({"ReturnSize":2,"TotalSize":2,"Tags":["project","team"]})");
  EXPECT_EQ(Text(Ask("GetTags", december(R"(,"TagKey":"team")"))),
            R"({"ReturnSize":2,"TotalSize":2,"Tags":["","ml"]})");
  EXPECT_EQ(Refusal(december(R"(,"Dimension":"AZ")"), "GetDimensionValues"),
            "ValidationException: Dimension AZ is not supported: there are no values of it here");
}

TEST_F(CostExplorerTest, RefusesByName) {
  const auto with = [](const std::string& start, const std::string& end, const std::string& more) {
    return R"({"TimePeriod":{"Start":")" + start + R"(","End":")" + end +
           R"("},"Granularity":"DAILY","Metrics":["UnblendedCost"])" + more + "}";
  };
  const auto more = [&](const std::string& text) {
    return Refusal(with("2026-12-01", "2026-12-02", text));
  };
  EXPECT_EQ(Refusal(with("2026-12-02", "2026-12-02", "")),
            "ValidationException: Start date (and hour) should be before end date (and hour)");
  EXPECT_EQ(Refusal(with("2026-12-02", "2027-01-02", "")),
            "ValidationException: end date past the beginning of next month");
  EXPECT_EQ(Refusal(with("2026-02-30", "2026-12-02", "")),
            "ValidationException: Start 2026-02-30 is no date");
  EXPECT_THAT(Refusal(with("2026-12-11", "2026-12-12", "")), HasSubstr("after the current date"));
  EXPECT_THAT(Refusal(with("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z", "")),
              HasSubstr("takes dates"));
  EXPECT_THAT(Refusal(with("2025-09-30", "2026-12-02", "")),
              HasSubstr("beyond the past 14 months"));
  EXPECT_EQ(Refusal(with("2025-10-01", "2026-12-02", "")), "accepted");
  EXPECT_THAT(more(R"(,"GroupBy":[{"Type":"TAG","Key":"a"},{"Type":"TAG","Key":"b"},
                                  {"Type":"TAG","Key":"c"}])"),
              HasSubstr("at most 2 are allowed"));
  EXPECT_THAT(more(R"(,"GroupBy":[{"Type":"DIMENSION","Key":"RESOURCE_ID"}])"),
              HasSubstr("Group Definition dimension is invalid. Valid values are INSTANCE_TYPE"));
  EXPECT_EQ(more(R"(,"GroupBy":[{"Type":"COST_CATEGORY","Key":"x"}])"),
            "ValidationException: Group Definition type is invalid.");
  EXPECT_THAT(more(R"(,"GroupBy":[{"Type":"TAG","Key":""}])"), HasSubstr("non-empty value"));
  EXPECT_THAT(more(R"(,"Filter":{"Dimensions":{"Key":"RESOURCE_ID","Values":["x"]}})"),
              HasSubstr("Dimension RESOURCE_ID is not allowed. Allowed dimension(s): "));
  EXPECT_EQ(more(R"(,"Filter":{"And":[{"Tags":{"Key":"a","Values":["x"]}}]})"),
            "ValidationException: And expression must have at least 2 operands");
  EXPECT_THAT(more(R"(,"Filter":{})"), HasSubstr("must have exactly one"));
  EXPECT_THAT(more(R"(,"Filter":{"CostCategories":{"Key":"a","Values":["x"]}})"),
              HasSubstr("CostCategories is not supported"));
  EXPECT_THAT(more(R"(,"Filter":{"Tags":{"Key":"a","Values":["x"],
                                         "MatchOptions":["GREATER_THAN_OR_EQUAL"]}})"),
              HasSubstr("Match option GREATER_THAN_OR_EQUAL is not supported for a"));
  EXPECT_THAT(more(R"(,"BillingViewArn":"arn:aws:billing::1:billingview/x")"),
              HasSubstr("ResourceNotFoundException"));
  EXPECT_THAT(Refusal(R"({"TimePeriod":{"Start":"2026-12-01","End":"2026-12-02"},
                          "Granularity":"DAILY","Metrics":["Price"]})"),
              HasSubstr("Metric Price is invalid. Valid values are AmortizedCost"));
  EXPECT_THAT(
      Refusal(R"({"TimePeriod":{"Start":"2026-11-01T00:00:00Z","End":"2026-12-02T00:00:00Z"},
                  "Granularity":"HOURLY","Metrics":["UnblendedCost"]})"),
      HasSubstr("too old for hourly"));
  EXPECT_THAT(Refusal(R"({"TimePeriod":{"Start":"2022-01-01","End":"2026-12-01"},
                          "Granularity":"MONTHLY","Metrics":["UnblendedCost"]})"),
              HasSubstr("DataUnavailableException"));
}

}  // namespace
}  // namespace sabia::api
