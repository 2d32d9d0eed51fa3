#include "model/training_job.h"

#include <gtest/gtest.h>

namespace sabia::model {
namespace {

WallTime At(std::int64_t seconds) { return FromUnixMillis(1'700'000'000'000 + seconds * 1000); }

TEST(TrainingJob, SurvivesTheRoundTripThroughJson) {
  TrainingJob job;
  job.uid = "0123456789ab";
  job.name = "abalone";
  job.request = json::object{{"EnableManagedSpotTraining", true}};
  job.created = At(0);
  EnterStatus(job, "Starting", "Starting the training job", At(0));
  EnterStatus(job, "Training", "Training image download completed. Training in progress.", At(3));
  job.attempts.push_back(Attempt{.number = 1, .spot = true, .launched = At(1), .ready = At(2)});
  job.attempts.push_back(Attempt{.number = 2,
                                 .spot = true,
                                 .zone = "us-west-2b",
                                 .per_hour = Money::FromNanos(123'456'789),
                                 .choice = "spot: $1.00 expected",
                                 .began = At(4),
                                 .saved = At(5),
                                 .gone = At(6)});
  job.deadline = Deadline{DeadlinePolicy::kGreedy, Seconds(60)};
  job.move_to = "on-demand";
  job.final_metrics.push_back(FinalMetric{"validation:rmse", 2.25, At(9)});
  job.stop_reason = StopReason::kMaxWait;
  job.training_start = At(2);
  job.tuning_job_arn =
      "arn:aws:sagemaker:us-west-2:123456789012:hyper-parameter-tuning-job/abalone";
  const auto read = TrainingJob::FromJson(job.ToJson());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ToJson(), job.ToJson());
  EXPECT_EQ(read->attempts[1].per_hour, job.attempts[1].per_hour);
  EXPECT_EQ(read->attempts[1].gone, At(6));
  EXPECT_EQ(read->deadline, job.deadline);
  EXPECT_TRUE(read->IsSpot());
  EXPECT_EQ(read->stop_reason, StopReason::kMaxWait);
}

TEST(TrainingJob, NamesTheMemberThatIsCorrupt) {
  TrainingJob job;
  json::object document = job.ToJson();
  document["phase"] = "dancing";
  const auto read = TrainingJob::FromJson(document);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(read.error().message.find("'phase'"), std::string::npos);
}

TEST(EnterStatus, ReplacesTheMessageInPlaceAndClosesTheStatusBefore) {
  TrainingJob job;
  EnterStatus(job, "Starting", "Starting the training job", At(0));
  EnterStatus(job, "Starting", "Preparing the instances for training", At(1));
  EnterStatus(job, "Downloading", "Downloading input data", At(2));
  ASSERT_EQ(job.transitions.size(), 2u);
  EXPECT_EQ(job.transitions[0].message, "Preparing the instances for training");
  EXPECT_EQ(job.transitions[0].start, At(0));
  EXPECT_EQ(job.transitions[0].end, At(2));
  EXPECT_FALSE(job.transitions[1].end);
  EXPECT_EQ(job.modified, At(2));
}

TEST(EnterStatus, TimesNeverGoBack) {
  TrainingJob job;
  EnterStatus(job, "Starting", "a", At(5));
  EnterStatus(job, "Training", "b", At(3));
  EXPECT_EQ(job.transitions[1].start, At(5));
  EXPECT_EQ(job.transitions[0].end, At(5));
}

TEST(Billing, CountsOnlyTheTimeOnInstances) {
  TrainingJob job;
  job.training_start = At(10);
  job.attempts.push_back(Attempt{.number = 1, .launched = At(8), .ready = At(10), .ended = At(40)});
  job.attempts.push_back(Attempt{.number = 2, .launched = At(90), .ready = At(100)});
  EXPECT_EQ(TrainingTime(job, At(110)), Seconds(100));
  EXPECT_EQ(BillableTime(job, At(110)), Seconds(40));
}

TEST(Billing, SaysNothingBeforeAnInstanceWasReady) {
  TrainingJob job;
  job.attempts.push_back(Attempt{.number = 1, .launched = At(8)});
  EXPECT_FALSE(TrainingTime(job, At(100)));
  EXPECT_FALSE(BillableTime(job, At(100)));
}

TEST(TrainingJob, CountsInstancesOverGroups) {
  TrainingJob job;
  job.request = ParseJsonObject(R"({"ResourceConfig":{"InstanceGroups":[
      {"InstanceCount":2,"InstanceType":"ml.m5.large","InstanceGroupName":"a"},
      {"InstanceCount":1,"InstanceType":"ml.c5.large","InstanceGroupName":"b"}]}})")
                    .value();
  EXPECT_EQ(job.InstanceCount(), 3);
}

}  // namespace
}  // namespace sabia::model
