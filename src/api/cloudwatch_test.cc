#include "api/cloudwatch.h"

#include "api/testing/api_fixture.h"
#include "store/series.h"

namespace sabia::api {
namespace {

class CloudWatchTest : public ApiFixture {
 protected:
  CloudWatchTest() {
    auto database = store::Database::Open(
        {.path = directory_.path() / "series.db", .migrations = store::Series::Migrations()});
    CHECK(database.has_value());
    series_database_ = std::move(*database);
    series_ = std::make_unique<store::Series>(*series_database_);
    RegisterCloudWatch(table_, *series_);
  }
  json::object Good(const std::string& action, std::string_view input) {
    return Ok("cloudwatch", action, input);
  }
  std::string Bad(const std::string& action, std::string_view input) {
    return Refusal("cloudwatch", action, input);
  }
  void Put(std::string_view datum) {
    Good("PutMetricData", fmt::format(R"({{"Namespace":"N","MetricData":[{}]}})", datum));
  }

  std::unique_ptr<store::Database> series_database_;
  std::unique_ptr<store::Series> series_;
};

// 1,700,000,000 is 20 s after a full minute.
constexpr const char* kQuery =
    R"("Namespace":"N","MetricName":"m","StartTime":1699999900,"EndTime":1700000100,"Period":60)";

TEST_F(CloudWatchTest, StatisticsAsSdkAnalyticsAsksForThem) {
  Put(R"({"MetricName":"m","Value":1,"Timestamp":1700000000},{"MetricName":"m","Value":3,"Timestamp":1700000001.5},
         {"MetricName":"m","Value":8,"Timestamp":1700000050},{"MetricName":"other","Value":9})");
  const json::object answer =
      Good("GetMetricStatistics",
           fmt::format(R"({{{},"Statistics":["Average","SampleCount"]}})", kQuery));
  EXPECT_EQ(GetString(answer, "Label"), "m");
  const json::array expected = ParseJson(R"([
      {"Timestamp":1699999980.0,"Unit":"None","Average":2.0,"SampleCount":2.0},
      {"Timestamp":1700000040.0,"Unit":"None","Average":8.0,"SampleCount":1.0}])")
                                   ->as_array();
  EXPECT_EQ(*FindArray(answer, "Datapoints"), expected) << json::serialize(answer);
}

TEST_F(CloudWatchTest, DimensionsNameTheSeriesExactly) {
  Put(R"({"MetricName":"m","Value":1,"Dimensions":[{"Name":"TrainingJobName","Value":"a"}]})");
  Put(R"({"MetricName":"m","Value":5,"Dimensions":[{"Name":"TrainingJobName","Value":"b"}]})");
  const json::object answer = Good(
      "GetMetricStatistics",
      fmt::format(
          R"({{{},"Statistics":["Sum"],"Dimensions":[{{"Name":"TrainingJobName","Value":"b"}}]}})",
          kQuery));
  ASSERT_EQ(FindArray(answer, "Datapoints")->size(), 1u);
  EXPECT_EQ(GetDouble(FindArray(answer, "Datapoints")->at(0).get_object(), "Sum"), 5);
  EXPECT_TRUE(
      FindArray(Good("GetMetricStatistics", fmt::format(R"({{{},"Statistics":["Sum"]}})", kQuery)),
                "Datapoints")
          ->empty());
}

TEST_F(CloudWatchTest, ValuesWithCountsAndStatisticSets) {
  Put(R"({"MetricName":"m","Values":[1,2],"Counts":[3,1]})");
  Put(R"({"MetricName":"m","StatisticValues":{"SampleCount":2,"Sum":10,"Minimum":4,"Maximum":6}})");
  const json::object answer =
      Good("GetMetricStatistics",
           fmt::format(R"({{{},"Statistics":["Sum","SampleCount","Minimum","Maximum"]}})", kQuery));
  const json::object& point = FindArray(answer, "Datapoints")->at(0).get_object();
  EXPECT_EQ(GetDouble(point, "Sum"), 15);
  EXPECT_EQ(GetDouble(point, "SampleCount"), 6);
  EXPECT_EQ(GetDouble(point, "Minimum"), 1);
  EXPECT_EQ(GetDouble(point, "Maximum"), 6);
}

TEST_F(CloudWatchTest, PutRefusesWhatCannotBeKept) {
  const auto put = [&](std::string_view datum) {
    return Bad("PutMetricData", fmt::format(R"({{"Namespace":"N","MetricData":[{}]}})", datum));
  };
  EXPECT_TRUE(put(R"({"MetricName":"m"})")
                  .starts_with("InvalidParameterCombination: The parameters "
                               "MetricData.member.1.Value"));
  EXPECT_TRUE(put(R"({"MetricName":"m","Value":1,"Values":[1]})")
                  .starts_with("InvalidParameterCombination: "));
  EXPECT_TRUE(put(R"({"MetricName":"m","Values":[1,2],"Counts":[1]})")
                  .starts_with("InvalidParameterCombination: "));
  EXPECT_TRUE(put(R"({"MetricName":"m","Value":1,"Timestamp":1600000000})")
                  .starts_with("InvalidParameterValue: "));
  EXPECT_TRUE(put(R"({"MetricName":"m","Value":1,"Timestamp":1700009999})")
                  .starts_with("InvalidParameterValue: "));
  EXPECT_TRUE(
      put(R"({"MetricName":"m","Value":1,"Dimensions":[{"Name":"a","Value":"1"},{"Name":"a","Value":"2"}]})")
          .starts_with("InvalidParameterValue: Dimension 'a' is given twice"));
  EXPECT_EQ(Bad("PutMetricData",
                R"({"Namespace":"AWS/EC2","MetricData":[{"MetricName":"m","Value":1}]})"),
            "InvalidParameterValue: The value AWS/ for parameter Namespace is invalid.");
  EXPECT_TRUE(Bad("PutMetricData", R"({"Namespace":"N"})").starts_with("MissingParameter: "));
  EXPECT_TRUE(FindArray(Good("ListMetrics", "{}"), "Metrics")->empty())
      << "a refused batch keeps nothing";
}

TEST_F(CloudWatchTest, StatisticsRefusals) {
  const auto get = [&](std::string_view rest) {
    return Bad("GetMetricStatistics",
               fmt::format(R"({{"Namespace":"N","MetricName":"m",{}}})", rest));
  };
  EXPECT_TRUE(get(R"("StartTime":2,"EndTime":1,"Period":60,"Statistics":["Sum"])")
                  .starts_with("InvalidParameterValue: The parameter StartTime must be less than"));
  EXPECT_TRUE(get(R"("StartTime":1,"EndTime":2,"Period":61,"Statistics":["Sum"])")
                  .starts_with("InvalidParameterValue: The parameter Period"));
  EXPECT_TRUE(get(R"("StartTime":1,"EndTime":2,"Period":60)").starts_with("MissingParameter: "));
  EXPECT_TRUE(
      get(R"("StartTime":0,"EndTime":86460,"Period":60,"Statistics":["Sum"])")
          .starts_with("InvalidParameterCombination: You have requested up to 1441 datapoints"));
  EXPECT_TRUE(
      get(R"("StartTime":1,"EndTime":2,"Period":60,"ExtendedStatistics":["tm90"])")
          .starts_with("InvalidParameterValue: The parameter ExtendedStatistics is invalid"));
}

std::string DataQuery(std::string_view queries, std::string_view more = "") {
  return fmt::format(
      R"({{"StartTime":1699999900,"EndTime":1700000400{},"MetricDataQueries":[{}]}})", more,
      queries);
}
constexpr const char* kStat =
    R"("MetricStat":{"Metric":{"Namespace":"N","MetricName":"m"},"Period":60,"Stat":"Sum"})";

TEST_F(CloudWatchTest, MetricDataIsNewestFirstAndPages) {
  Put(R"({"MetricName":"m","Value":1,"Timestamp":1699999990},{"MetricName":"m","Value":2,"Timestamp":1700000050},
         {"MetricName":"m","Value":3,"Timestamp":1700000110})");
  const std::string two =
      fmt::format(R"({{"Id":"a",{0}}},{{"Id":"b","Label":"second",{0}}})", kStat);
  json::object answer = Good("GetMetricData", DataQuery(two));
  const json::array& results = *FindArray(answer, "MetricDataResults");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(*FindArray(results[0].get_object(), "Values"), (json::array{3.0, 2.0, 1.0}));
  EXPECT_EQ(GetString(results[1].get_object(), "Label"), "second");
  EXPECT_FALSE(answer.contains("NextToken"));

  std::vector<double> seen;
  std::string token;
  for (int page = 0; page < 10; ++page) {
    answer =
        Good("GetMetricData",
             DataQuery(two, R"(,"MaxDatapoints":2,"ScanBy":"TimestampAscending")" +
                                (token.empty() ? "" : fmt::format(R"(,"NextToken":"{}")", token))));
    for (const json::value& result : *FindArray(answer, "MetricDataResults")) {
      for (const json::value& value : *FindArray(result.get_object(), "Values"))
        seen.push_back(value.to_number<double>());
    }
    token = GetString(answer, "NextToken");
    if (token.empty()) break;
  }
  EXPECT_EQ(seen, (std::vector<double>{1, 2, 3, 1, 2, 3}));
}

TEST_F(CloudWatchTest, MetricDataRefusesByName) {
  EXPECT_TRUE(Bad("GetMetricData", DataQuery(R"({"Id":"a","Expression":"m1*2"})"))
                  .starts_with("InvalidParameterValue: Expression of query a is not supported"));
  EXPECT_TRUE(
      Bad("GetMetricData", DataQuery(fmt::format(R"({{"Id":"A",{}}})", kStat)))
          .starts_with("InvalidParameterValue: The value A for parameter MetricDataQueries.Id"));
  EXPECT_TRUE(
      Bad("GetMetricData", DataQuery(fmt::format(R"({{"Id":"a",{0}}},{{"Id":"a",{0}}})", kStat)))
          .starts_with("InvalidParameterValue: The query id a is given twice"));
  EXPECT_TRUE(Bad("GetMetricData",
                  DataQuery(fmt::format(R"({{"Id":"a",{}}})", kStat), R"(,"NextToken":"x")"))
                  .starts_with("InvalidNextToken: "));
  EXPECT_TRUE(Bad("GetMetricData",
                  DataQuery(fmt::format(R"({{"Id":"a",{}}})", kStat), R"(,"LabelOptions":{})"))
                  .starts_with("InvalidParameterValue: LabelOptions is not supported"));
}

TEST_F(CloudWatchTest, ListMetricsFiltersAndPages) {
  for (int i = 0; i < 6; ++i) {
    std::string data;
    for (int k = 0; k < 100; ++k) {
      data += fmt::format(
          R"({}{{"MetricName":"m{:03}","Value":1,"Dimensions":[{{"Name":"Host","Value":"h"}}]}})",
          k == 0 ? "" : ",", i * 100 + k);
    }
    Put(data);
  }
  json::object page = Good("ListMetrics", R"({"Namespace":"N"})");
  EXPECT_EQ(FindArray(page, "Metrics")->size(), 500u);
  page = Good("ListMetrics",
              json::serialize(json::object{{"Namespace", "N"}, {"NextToken", page["NextToken"]}}));
  EXPECT_EQ(FindArray(page, "Metrics")->size(), 100u);
  EXPECT_FALSE(page.contains("NextToken"));
  EXPECT_EQ(
      FindArray(Good("ListMetrics", R"({"MetricName":"m007","Dimensions":[{"Name":"Host"}]})"),
                "Metrics")
          ->size(),
      1u);
  EXPECT_EQ(
      FindArray(Good("ListMetrics", R"({"Dimensions":[{"Name":"Host","Value":"x"}]})"), "Metrics")
          ->size(),
      0u);
  EXPECT_TRUE(Bad("ListMetrics", R"({"NextToken":"!"})").starts_with("InvalidNextToken: "));
  EXPECT_TRUE(
      Bad("ListMetrics", R"({"RecentlyActive":"PT3H"})").starts_with("InvalidParameterValue: "));
}

}  // namespace
}  // namespace sabia::api
