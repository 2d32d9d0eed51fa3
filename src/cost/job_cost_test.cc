#include "cost/job_cost.h"

#include <gtest/gtest.h>

namespace sabia::cost {
namespace {

const WallTime kStart = FromUnixMillis(1'700'000'000'000);

PriceLists Book() {
  PriceLists lists;
  EXPECT_TRUE(lists.Add(
      "2020-01-01",
      *PriceBook::Parse(
          "region,instance_type,usd_per_hour,basis,spot_saving_percent\n"
          "us-east-1,ml.a,3.6,listed,75\nus-east-1,ml.b,7.2,listed,\nhere,ml.a,36,listed,50\n")));
  return lists;
}

// 143 seconds of training, 43 of them billable, in two attempts around an interruption.
model::TrainingJob SpotJob(std::string_view resources) {
  model::TrainingJob job;
  job.uid = "0123456789ab";
  job.created = kStart - Seconds(5);
  job.region = "us-east-1";
  job.request = {{"EnableManagedSpotTraining", true}, {"ResourceConfig", *ParseJson(resources)}};
  job.training_start = kStart;
  job.training_end = kStart + Seconds(143);
  job.phase = model::TrainingPhase::kCompleted;
  job.attempts = {
      {1, true, kStart, kStart, kStart + Seconds(10), "interrupted"},
      {2, true, kStart + Seconds(90), kStart + Seconds(110), kStart + Seconds(143), "completed"}};
  return job;
}

TEST(JobCost, SpotJobPaysBillableSecondsAtTheSpotRate) {
  const auto cost =
      CostOfJob(Book(), SpotJob(R"({"InstanceType":"ml.a","InstanceCount":2})"), kStart);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->training, Seconds(143));
  EXPECT_EQ(cost->billable, Seconds(43));
  EXPECT_EQ(cost->on_demand, Money::FromNanos(86'000'000));  // 43 s of 2 × 0.001 USD a second
  EXPECT_EQ(cost->billed, Money::FromNanos(21'500'000));
  EXPECT_EQ(cost->saved(), Money::FromNanos(64'500'000));
  EXPECT_DOUBLE_EQ(cost->saving_percent(), 75);
  ASSERT_EQ(cost->attempts.size(), 2u);
  EXPECT_EQ(cost->attempts[0].billed, Money::FromNanos(5'000'000));
  EXPECT_EQ(cost->attempts[0].end_reason, "interrupted");
  EXPECT_TRUE(cost->final);
  EXPECT_TRUE(cost->notes.empty());
}

TEST(JobCost, GroupsAddUp) {
  const auto cost = CostOfJob(
      Book(),
      SpotJob(
          R"({"InstanceGroups":[{"InstanceType":"ml.a","InstanceCount":1,"InstanceGroupName":"x"},
                          {"InstanceType":"ml.b","InstanceCount":1,"InstanceGroupName":"y"}]})"),
      kStart);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->on_demand, Money::FromNanos(43 * 3'000'000));
  EXPECT_EQ(cost->billed, Money::FromNanos(43 * 2'250'000));  // ml.b has no spot price
  ASSERT_EQ(cost->notes.size(), 1u);
  EXPECT_EQ(cost->notes[0],
            "no spot price of ml.b in us-east-1 is known: on-demand rates are used");
}

TEST(JobCost, RunningJobCountsUpToNow) {
  model::TrainingJob job = SpotJob(R"({"InstanceType":"ml.a","InstanceCount":1})");
  job.phase = model::TrainingPhase::kTraining;
  job.training_end.reset();
  job.attempts[1].ended.reset();
  job.attempts[1].end_reason.clear();
  const auto cost = CostOfJob(Book(), job, kStart + Seconds(120));
  EXPECT_EQ(cost->billable, Seconds(20));
  EXPECT_EQ(cost->training, Seconds(120));
  EXPECT_FALSE(cost->final);
}

TEST(JobCost, JobThatNeverStartedCostsNothing) {
  model::TrainingJob job;
  job.region = "us-east-1";
  job.request = {{"ResourceConfig", *ParseJson(R"({"InstanceType":"ml.a","InstanceCount":1})")}};
  const auto cost = CostOfJob(Book(), job, kStart);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->billed, Money());
  EXPECT_EQ(cost->saving_percent(), 0);
}

TEST(JobCost, UnknownRegionFallsBackAndSaysSo) {
  model::TrainingJob job = SpotJob(R"({"InstanceType":"ml.a","InstanceCount":1})");
  job.region = "mars-1";
  const auto cost = CostOfJob(Book(), job, kStart);
  EXPECT_EQ(cost->price_region, "us-east-1");
  EXPECT_EQ(cost->notes[0], "no prices are known for mars-1: those of us-east-1 are used");
  job.region = "here";
  EXPECT_EQ(CostOfJob(Book(), job, kStart)->on_demand, Money::FromNanos(430'000'000));
}

TEST(JobCost, UnknownTypeIsNamed) {
  const auto cost =
      CostOfJob(Book(), SpotJob(R"({"InstanceType":"ml.z","InstanceCount":1})"), kStart);
  ASSERT_FALSE(cost.has_value());
  EXPECT_EQ(cost.error().message, "no price of ml.z in us-east-1 is known");
}

}  // namespace
}  // namespace sabia::cost
