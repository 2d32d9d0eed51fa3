#include "api/training_jobs.h"

#include "api/job_costs.h"
#include "api/tags.h"
#include "api/testing/api_fixture.h"
#include "api/testing/small_request.h"
#include "model/limits.h"
#include "store/training_job_row.h"

namespace sabia::api {
namespace {

class TrainingJobsTest : public ApiFixture {
 protected:
  TrainingJobsTest() : jobs_(*resources_, *buckets_, random_) {
    RegisterTrainingJobs(table_, jobs_);
    RegisterTags(table_, *resources_);
    PutObject("data", "train/part-0.csv", "1,2\n");
    PutObject("models", "keep", "");
  }

  Answer Create(std::string_view name, std::string_view change = "{}") {
    return Call("sagemaker", "CreateTrainingJob", SmallRequest(name, change));
  }
  std::string CreateRefusal(std::string_view change) {
    const Answer answer = Create("j", change);
    return answer ? "accepted" : answer.error().code + ": " + answer.error().message;
  }
  json::object Describe(std::string_view name) {
    return Ok("sagemaker", "DescribeTrainingJob",
              fmt::format(R"({{"TrainingJobName":"{}"}})", name));
  }
  // Rewrites the stored record, as a controller would.
  void Edit(std::string_view name, const std::function<void(model::TrainingJob&)>& edit,
            bool live = true) {
    auto row = resources_->Get(store::Kind::kTrainingJob, name);
    ASSERT_TRUE(row.has_value());
    auto job = store::TrainingJobOf(*row);
    ASSERT_TRUE(job.has_value());
    edit(*job);
    row->document = json::serialize(job->ToJson());
    row->status = model::PrimaryStatus(job->phase);
    row->live = live;
    ASSERT_TRUE(resources_->Commit({{store::Change::Op::kUpdate, *row, {}, {}}}).has_value());
  }
  void Finish(std::string_view name, model::TrainingPhase phase) {
    Edit(
        name,
        [&](model::TrainingJob& job) {
          job.phase = phase;
          model::EnterStatus(job, model::PrimaryStatus(phase), "over", clock_.Wall());
        },
        false);
  }

  TrainingJobs jobs_;
};

TEST_F(TrainingJobsTest, TellsOfEachCreatedJobInsteadOfTheStore) {
  std::vector<std::string> told;
  int heard = 0;
  resources_->OnCommit([&](store::Kind, const std::string&) { ++heard; });
  jobs_.OnAccepted([&](std::unique_ptr<model::TrainingJob> job) {
    const auto row = resources_->Get(store::Kind::kTrainingJob, job->name);
    ASSERT_TRUE(row.has_value()) << "told before it is there";
    EXPECT_EQ(ParseJsonObject(row->document).value(), job->ToJson());
    told.push_back(job->name);
  });
  ASSERT_TRUE(Create("a").has_value());
  EXPECT_FALSE(Create("a").has_value());
  ASSERT_TRUE(Create("b").has_value());
  EXPECT_EQ(told, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(heard, 0);
}

TEST_F(TrainingJobsTest, AJobThatWaitsIsPendingAfterASecond) {
  ASSERT_TRUE(Create("j").has_value());
  clock_.Advance(Millis(999));
  EXPECT_EQ(GetString(Describe("j"), "SecondaryStatus"), "Starting");
  clock_.Advance(Millis(1));
  const json::object described = Describe("j");
  EXPECT_EQ(GetString(described, "SecondaryStatus"), "Pending");
  const json::array& transitions = *FindArray(described, "SecondaryStatusTransitions");
  ASSERT_EQ(transitions.size(), 2u);
  EXPECT_EQ(GetString(transitions[1].get_object(), "StatusMessage"),
            "Training job waiting for capacity");
  EXPECT_EQ(GetDouble(transitions[1].get_object(), "StartTime"),
            GetDouble(described, "CreationTime") + 1);
  const json::object listed = Ok("sagemaker", "ListTrainingJobs", "{}");
  EXPECT_EQ(
      GetString(FindArray(listed, "TrainingJobSummaries")->at(0).get_object(), "SecondaryStatus"),
      "Pending");
}

TEST_F(TrainingJobsTest, DescribeEchoesTheRequestWithTheServicesDefaults) {
  ASSERT_TRUE(Create("abalone-1").has_value());
  const json::object expected = *ParseJsonObject(R"({
    "TrainingJobName": "abalone-1",
    "TrainingJobArn": "arn:aws:sagemaker:us-west-2:123456789012:training-job/abalone-1",
    "ModelArtifacts": {"S3ModelArtifacts": "s3://models/out/abalone-1/output/model.tar.gz"},
    "TrainingJobStatus": "InProgress",
    "SecondaryStatus": "Starting",
    "HyperParameters": {"objective": "\"reg:squarederror\"", "num_round": "3"},
    "AlgorithmSpecification": {
      "TrainingImage":
        "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.0.1-cpu-py310",
      "TrainingInputMode": "File", "MetricDefinitions": [],
      "EnableSageMakerMetricsTimeSeries": false},
    "RoleArn": "arn:aws:iam::123456789012:role/service-role/Sage",
    "InputDataConfig": [{"ChannelName": "train", "DataSource": {
        "S3DataSource": {"S3DataType": "S3Prefix",
        "S3Uri": "s3://data/train", "S3DataDistributionType": "FullyReplicated"}},
        "CompressionType": "None", "RecordWrapperType": "None"}],
    "OutputDataConfig": {"S3OutputPath": "s3://models/out/", "KmsKeyId": "",
                         "CompressionType": "GZIP"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    "EnableNetworkIsolation": false,
    "EnableInterContainerTrafficEncryption": false,
    "EnableManagedSpotTraining": false,
    "CreationTime": 1700000000.0,
    "LastModifiedTime": 1700000000.0,
    "SecondaryStatusTransitions": [{"Status": "Starting", "StartTime": 1700000000.0,
                                    "StatusMessage": "Starting the training job"}],
    "ProfilingStatus": "Disabled"})");
  json::object described = Describe("abalone-1");
  EXPECT_EQ(json::value(described), json::value(expected)) << json::serialize(described);
}

TEST_F(TrainingJobsTest, FinishedSpotJobTellsTimesMetricsAndArtifacts) {
  ASSERT_TRUE(Create("spot-1", R"({"EnableManagedSpotTraining": true,
      "StoppingCondition": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 3600},
      "OutputDataConfig": {"S3OutputPath": "s3://models", "CompressionType": "NONE"},
      "ProfilerConfig": {"S3OutputPath": "s3://models/p", "DisableProfiler": false}})")
                  .has_value());
  const WallTime t0 = clock_.Wall();
  Edit(
      "spot-1",
      [&](model::TrainingJob& job) {
        job.phase = model::TrainingPhase::kCompleted;
        model::EnterStatus(job, "Training",
                           "Training image download completed. Training in progress.",
                           t0 + Seconds(3));
        model::EnterStatus(job, "Completed", "Training job completed", t0 + Seconds(146));
        job.training_start = t0 + Seconds(3);
        job.training_end = t0 + Seconds(146);
        job.attempts = {
            {1, true, t0 + Seconds(1), t0 + Seconds(3), t0 + Seconds(13), "interrupted"},
            {2, true, t0 + Seconds(100), t0 + Seconds(113), t0 + Seconds(146), "completed"}};
        job.final_metrics = {{"validation:rmse", 2.25, t0 + Seconds(140)}};
      },
      false);
  const json::object described = Describe("spot-1");
  EXPECT_EQ(GetInt(described, "TrainingTimeInSeconds"),
            143);  // the figures of SDK output "savings: 69.9%"
  EXPECT_EQ(GetInt(described, "BillableTimeInSeconds"), 43);
  EXPECT_EQ(GetDouble(described, "TrainingStartTime"), ToUnixSeconds(t0 + Seconds(3)));
  EXPECT_EQ(GetDouble(described, "TrainingEndTime"), ToUnixSeconds(t0 + Seconds(146)));
  EXPECT_EQ(GetString(*FindObject(described, "ModelArtifacts"), "S3ModelArtifacts"),
            "s3://models/spot-1/output/model/");
  EXPECT_EQ(GetString(described, "ProfilingStatus"), "Enabled");
  const json::array& transitions = *FindArray(described, "SecondaryStatusTransitions");
  ASSERT_EQ(transitions.size(), 3u);
  EXPECT_EQ(GetDouble(transitions[2].get_object(), "EndTime"), ToUnixSeconds(t0 + Seconds(146)));
  EXPECT_EQ(
      json::serialize(*FindArray(described, "FinalMetricDataList")),
      json::serialize(json::array{json::object{{"MetricName", "validation:rmse"},
                                               {"Value", 2.25},
                                               {"Timestamp", ToUnixSeconds(t0 + Seconds(140))}}}));
}

TEST_F(TrainingJobsTest, JobThatNeverRanHasNoSeconds) {
  ASSERT_TRUE(Create("never").has_value());
  Finish("never", model::TrainingPhase::kStopped);
  const json::object described = Describe("never");
  EXPECT_FALSE(described.contains("TrainingTimeInSeconds"));
  EXPECT_FALSE(described.contains("BillableTimeInSeconds"));
  EXPECT_EQ(GetString(described, "TrainingJobStatus"), "Stopped");
}

TEST_F(TrainingJobsTest, NamesAreUnique) {
  ASSERT_TRUE(Create("twice").has_value());
  const Answer again = Create("twice");
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, "ResourceInUse");
  EXPECT_EQ(again.error().status, 400u);
  EXPECT_EQ(again.error().message,
            "Training job names must be unique within an AWS account and region, and a training "
            "job with this "
            "name already exists (arn:aws:sagemaker:us-west-2:123456789012:training-job/twice)");
}

TEST_F(TrainingJobsTest, UnknownJobsAreNotFoundEverywhere) {
  for (const char* action :
       {"DescribeTrainingJob", "StopTrainingJob", "DeleteTrainingJob", "UpdateTrainingJob"}) {
    EXPECT_EQ(Refusal("sagemaker", action, R"({"TrainingJobName":"none"})"),
              "ValidationException: Requested resource not found.")
        << action;
  }
}

TEST_F(TrainingJobsTest, HostileNamesDoNotPassTheSchema) {
  for (const char* name : {"../etc", "a/b", "", "-a", "a_b", "a b"}) {
    const Answer answer = Create(name);
    ASSERT_FALSE(answer.has_value()) << name;
    EXPECT_EQ(answer.error().code, "ValidationException");
  }
}

TEST_F(TrainingJobsTest, StoppingRulesUseTheServicesSentences) {
  EXPECT_EQ(
      CreateRefusal(
          R"({"StoppingCondition": {"MaxRuntimeInSeconds": 10, "MaxWaitTimeInSeconds": 20}})"),
      "ValidationException: Invalid MaxWaitTimeInSeconds. It is only supported when "
      "EnableManagedSpotTraining is set to true");
  EXPECT_EQ(CreateRefusal(R"({"EnableManagedSpotTraining": true,
                              "StoppingCondition": {"MaxRuntimeInSeconds": 10,
                                                    "MaxWaitTimeInSeconds": 9}})"),
            "ValidationException: Invalid MaxWaitTimeInSeconds. It must be present and be greater "
            "than or equal "
            "to MaxRuntimeInSeconds");
  EXPECT_EQ(CreateRefusal(R"({"EnableManagedSpotTraining": true,
                              "StoppingCondition": {"MaxRuntimeInSeconds": 10,
                                                    "MaxWaitTimeInSeconds": 10}})"),
            "accepted");
}

TEST_F(TrainingJobsTest, MaxRuntimeDefaultsToADayAlsoForTheWaitRule) {
  ASSERT_TRUE(Create("day", R"({"StoppingCondition": null})").has_value());
  EXPECT_EQ(GetInt(*FindObject(Describe("day"), "StoppingCondition"), "MaxRuntimeInSeconds"),
            86'400);
  EXPECT_TRUE(CreateRefusal(R"({"EnableManagedSpotTraining": true,
                                "StoppingCondition": {"MaxWaitTimeInSeconds": 60}})")
                  .starts_with("ValidationException: Invalid MaxWaitTimeInSeconds."));
}

TEST_F(TrainingJobsTest, InputThatMatchesNothingIsRefusedWithChannelAndUri) {
  const std::string text =
      CreateRefusal(R"({"InputDataConfig": [{"ChannelName": "validation", "DataSource":
      {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://data/nothing"}}}]})");
  EXPECT_TRUE(text.starts_with(
      "ValidationException: No S3 objects found under S3 URL \"s3://data/nothing\" given in "
      "input data source. Please ensure that the bucket exists in the selected region "
      "(us-west-2), that objects exist under that S3 prefix, and that the role "
      "\"arn:aws:iam::123456789012:role/service-role/Sage\" has \"s3:ListBucket\" "
      "permissions on bucket \"data\"."))
      << text;
  EXPECT_TRUE(text.ends_with("Channel: validation")) << text;
  EXPECT_NE(CreateRefusal(R"({"InputDataConfig": [{"ChannelName": "t", "DataSource":
      {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://absent/x"}}}]})")
                .find("The specified bucket does not exist"),
            std::string::npos);
}

TEST_F(TrainingJobsTest, InstanceTypesOfUnknownHardwareAreRefused) {
  EXPECT_EQ(CreateRefusal(R"({"ResourceConfig": {"InstanceType": "ml.p6e-gb200.36xlarge",
                                                 "InstanceCount": 1}})"),
            "ValidationException: The requested resource training-job/ml.p6e-gb200.36xlarge is not "
            "available in this region");
}

TEST_F(TrainingJobsTest, AWholeBucketIsAnInput) {
  EXPECT_EQ(CreateRefusal(R"({"InputDataConfig": [{"ChannelName": "t", "DataSource":
      {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://data"}}}]})"),
            "accepted");
}

TEST_F(TrainingJobsTest, OutputAndCheckpointBucketsMustExist) {
  EXPECT_EQ(CreateRefusal(R"({"OutputDataConfig": {"S3OutputPath": "s3://absent/x"}})"),
            "ValidationException: S3OutputPath 's3://absent/x' names bucket 'absent', which does "
            "not exist. "
            "Create the bucket first.");
  EXPECT_EQ(CreateRefusal(R"({"CheckpointConfig": {"S3Uri": "s3://absent/x"}})"),
            "ValidationException: S3Uri of CheckpointConfig 's3://absent/x' names bucket 'absent', "
            "which does not "
            "exist. Create the bucket first.");
}

TEST_F(TrainingJobsTest, BuiltInImageImpliesItsMetrics) {
  ASSERT_TRUE(Create("xgb", R"({"AlgorithmSpecification": {"TrainingInputMode": "File",
      "TrainingImage": "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1"}})")
                  .has_value());
  const json::object described = Describe("xgb");
  const json::array& metrics =
      *FindArray(*FindObject(described, "AlgorithmSpecification"), "MetricDefinitions");
  const bool rmse = std::any_of(metrics.begin(), metrics.end(), [](const json::value& metric) {
    return GetString(metric.get_object(), "Name") == "validation:rmse";
  });
  EXPECT_TRUE(rmse);
}

TEST_F(TrainingJobsTest, MetricRegexWithoutAGroupIsNoted) {
  ASSERT_TRUE(
      Create(
          "m",
          R"({"AlgorithmSpecification": {"TrainingInputMode": "File", "TrainingImage": "sabia/python:3",
      "MetricDefinitions": [{"Name": "loss", "Regex": "loss=[0-9]+"}]}})")
          .has_value());
  const auto row = resources_->Get(store::Kind::kTrainingJob, "m");
  const auto job = store::TrainingJobOf(*row);
  ASSERT_EQ(job->notes.size(), 1u);
  EXPECT_EQ(job->notes[0], "metric 'loss': the regex has no group, so it never yields a value");
}

TEST_F(TrainingJobsTest, WhatSdkV2SendsByDefaultIsAccepted) {
  EXPECT_EQ(
      CreateRefusal(
          R"({"DebugHookConfig": {"S3OutputPath": "s3://models/", "CollectionConfigurations": []},
                              "ProfilerConfig": {"S3OutputPath": "s3://models/",
                                                "DisableProfiler": false}})"),
      "accepted");
}

TEST_F(TrainingJobsTest, SpotWithoutCheckpointIsAcceptedWithANote) {
  ASSERT_TRUE(Create("bold", R"({"EnableManagedSpotTraining": true})").has_value());
  const auto row = resources_->Get(store::Kind::kTrainingJob, "bold");
  const auto job = store::TrainingJobOf(*row);
  ASSERT_EQ(job->notes.size(), 2u);
  EXPECT_TRUE(job->notes[0].starts_with("spot without CheckpointConfig"));
}

TEST_F(TrainingJobsTest, StopLeavesAnIntentAndMayBeRepeated) {
  ASSERT_TRUE(Create("s").has_value());
  Ok("sagemaker", "StopTrainingJob", R"({"TrainingJobName":"s"})");
  clock_.Advance(Seconds(5));
  Ok("sagemaker", "StopTrainingJob", R"({"TrainingJobName":"s"})");
  const auto row = resources_->Get(store::Kind::kTrainingJob, "s");
  const auto job = store::TrainingJobOf(*row);
  EXPECT_EQ(job->stop_requested, FromUnixMillis(1'700'000'000'000));
  EXPECT_EQ(job->stop_reason, model::StopReason::kRequested);
  EXPECT_EQ(job->phase, model::TrainingPhase::kQueued);  // the controller's to change
  Finish("s", model::TrainingPhase::kStopped);
  EXPECT_EQ(Refusal("sagemaker", "StopTrainingJob", R"({"TrainingJobName":"s"})"),
            "ValidationException: The request was rejected because the training job is in status "
            "Stopped.");
}

TEST_F(TrainingJobsTest, DeleteTakesOnlyWhatHasEnded) {
  ASSERT_TRUE(Create("d", R"({"Tags":[{"Key":"a","Value":"1"}]})").has_value());
  EXPECT_TRUE(Refusal("sagemaker", "DeleteTrainingJob", R"({"TrainingJobName":"d"})")
                  .starts_with("ResourceInUse: "));
  Finish("d", model::TrainingPhase::kCompleted);
  Ok("sagemaker", "DeleteTrainingJob", R"({"TrainingJobName":"d"})");
  EXPECT_EQ(Refusal("sagemaker", "DescribeTrainingJob", R"({"TrainingJobName":"d"})"),
            "ValidationException: Requested resource not found.");
  ASSERT_TRUE(Create("d").has_value()) << "the name is free again";
  EXPECT_TRUE(FindArray(Ok("sagemaker", "ListTags", R"({"ResourceArn":
      "arn:aws:sagemaker:us-west-2:123456789012:training-job/d"})"),
                        "Tags")
                  ->empty());
}

TEST_F(TrainingJobsTest, UpdateChangesTheProfilerAndRefusesTheRestByName) {
  ASSERT_TRUE(Create("u").has_value());
  Ok("sagemaker", "UpdateTrainingJob",
     R"({"TrainingJobName":"u","ProfilerConfig":{"S3OutputPath":"s3://models/p",
      "ProfilingIntervalInMilliseconds":500}})");
  Ok("sagemaker", "UpdateTrainingJob",
     R"({"TrainingJobName":"u","ProfilerConfig":{"DisableProfiler":true}})");
  const json::object described = Describe("u");
  EXPECT_EQ(GetInt(*FindObject(described, "ProfilerConfig"), "ProfilingIntervalInMilliseconds"),
            500);
  EXPECT_EQ(GetString(described, "ProfilingStatus"), "Disabled");
  EXPECT_TRUE(
      Refusal("sagemaker", "UpdateTrainingJob", R"({"TrainingJobName":"u",
      "ResourceConfig":{"KeepAlivePeriodInSeconds":60}})")
          .starts_with("ValidationException: KeepAlivePeriodInSeconds can be updated only while"));
  Finish("u", model::TrainingPhase::kFailed);
  EXPECT_EQ(
      Refusal("sagemaker", "UpdateTrainingJob", R"({"TrainingJobName":"u","ProfilerConfig":{}})"),
      "ValidationException: The request was rejected because the training job is in status "
      "Failed.");
}

TEST_F(TrainingJobsTest, ListIsNewestFirstAndPagesWithoutATokenAtTheEnd) {
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(Create(fmt::format("job-{:02}", i)).has_value());
    clock_.Advance(Seconds(1));
  }
  json::object page = Ok("sagemaker", "ListTrainingJobs", "{}");
  ASSERT_EQ(FindArray(page, "TrainingJobSummaries")->size(), 10u);
  EXPECT_EQ(
      GetString(FindArray(page, "TrainingJobSummaries")->at(0).get_object(), "TrainingJobName"),
      "job-11");
  const std::string token = GetString(page, "NextToken");
  ASSERT_FALSE(token.empty());
  page = Ok("sagemaker", "ListTrainingJobs", json::serialize(json::object{{"NextToken", token}}));
  ASSERT_EQ(FindArray(page, "TrainingJobSummaries")->size(), 2u);
  EXPECT_FALSE(page.contains("NextToken"));
  EXPECT_TRUE(Refusal("sagemaker", "ListTrainingJobs",
                      json::serialize(json::object{{"NextToken", token}, {"NameContains", "x"}}))
                  .starts_with("ValidationException: Invalid NextToken"));
}

TEST_F(TrainingJobsTest, ListFilters) {
  ASSERT_TRUE(Create("alpha").has_value());
  clock_.Advance(Seconds(10));
  ASSERT_TRUE(Create("beta").has_value());
  Finish("beta", model::TrainingPhase::kCompleted);
  const auto names = [&](std::string_view input) {
    const json::object page = Ok("sagemaker", "ListTrainingJobs", input);
    EXPECT_FALSE(page.contains("NextToken"));
    std::string all;
    for (const json::value& job : *FindArray(page, "TrainingJobSummaries")) {
      all += GetString(job.get_object(), "TrainingJobName") + " ";
    }
    return all;
  };
  EXPECT_EQ(names(R"({"StatusEquals":"InProgress"})"), "alpha ");
  EXPECT_EQ(names(R"({"NameContains":"ET"})"), "beta ");
  EXPECT_EQ(names(R"({"SortBy":"Name","SortOrder":"Ascending"})"), "alpha beta ");
  EXPECT_EQ(names(R"({"CreationTimeAfter":1700000005})"), "beta ");
  EXPECT_EQ(names(R"({"LastModifiedTimeAfter":1900000000})"), "");
  EXPECT_EQ(names(R"({"WarmPoolStatusEquals":"Available"})"), "");
  EXPECT_EQ(names(R"({"StatusEquals":"Deleting"})"), "");
}

TEST_F(TrainingJobsTest, InterruptNeedsARunningSpotJob) {
  const auto interrupt = [&](std::string_view name) {
    return jobs_.InterruptSpot(Context(), json::object{{"TrainingJobName", name}});
  };
  EXPECT_EQ(interrupt("none").error().message, "Requested resource not found.");
  ASSERT_TRUE(Create("ondemand").has_value());
  EXPECT_NE(interrupt("ondemand").error().message.find("does not use managed spot training"),
            std::string::npos);
  ASSERT_TRUE(Create("spot", R"({"EnableManagedSpotTraining": true})").has_value());
  EXPECT_NE(interrupt("spot").error().message.find("has no instances to reclaim"),
            std::string::npos);
  Edit("spot", [&](model::TrainingJob& job) {
    job.phase = model::TrainingPhase::kTraining;
    job.attempts = {{1, true, clock_.Wall(), clock_.Wall(), {}, ""}};
  });
  const Answer first = interrupt("spot");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(GetDouble(*first, "ReclaimAt"), ToUnixSeconds(clock_.Wall() + model::kSpotNotice));
  clock_.Advance(Seconds(30));
  EXPECT_EQ(*interrupt("spot"), *first) << "one notice is one interruption";
}

TEST_F(TrainingJobsTest, CostTellsBilledAndSaved) {
  const cost::PriceLists prices = cost::PriceLists::BuiltIn();
  ASSERT_TRUE(database_->Write(
      [](store::Connection& db) { return db.Execute(store::Ledger::Migrations().front()); }));
  store::Ledger ledger(*database_);
  const auto ask = [&](const json::object& input) {
    return DescribeJobCost({*resources_, ledger, prices}, Context(), input);
  };
  EXPECT_EQ(ask({}).error().message, "TrainingJobName must be given");
  EXPECT_EQ(ask({{"TrainingJobName", "no"}}).error().message, "Requested resource not found.");
  ASSERT_TRUE(Create("c", R"({"EnableManagedSpotTraining": true})").has_value());
  const WallTime t0 = clock_.Wall();
  Edit("c", [&](model::TrainingJob& job) {
    job.phase = model::TrainingPhase::kTraining;
    job.training_start = t0;
    job.attempts = {{1, true, t0, t0, {}, ""}};
  });
  clock_.Advance(Seconds(3'600));
  const Answer cost = ask({{"TrainingJobName", "c"}});
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(GetInt(*cost, "BillableSeconds"), 3'600);
  EXPECT_DOUBLE_EQ(GetDouble(*cost, "OnDemandUsd"), 0.115);
  EXPECT_DOUBLE_EQ(GetDouble(*cost, "BilledUsd"), 0.0437);  // data/prices.csv: 62 % saved on spot
  EXPECT_DOUBLE_EQ(GetDouble(*cost, "SavingPercent"), 62);
  EXPECT_FALSE(GetBool(*cost, "Final", true));
}

TEST_F(TrainingJobsTest, TagsLiveWithTheJob) {
  ASSERT_TRUE(Create("t", R"({"Tags":[{"Key":"a","Value":"1"}]})").has_value());
  const std::string arn =
      R"("ResourceArn":"arn:aws:sagemaker:us-west-2:123456789012:training-job/t")";
  Ok("sagemaker", "AddTags",
     "{" + arn + R"(,"Tags":[{"Key":"b","Value":"2"},{"Key":"a","Value":"3"}]})");
  EXPECT_EQ(json::serialize(*FindArray(Ok("sagemaker", "ListTags", "{" + arn + "}"), "Tags")),
            R"([{"Key":"a","Value":"3"},{"Key":"b","Value":"2"}])");
  Ok("sagemaker", "DeleteTags", "{" + arn + R"(,"TagKeys":["a","absent"]})");
  EXPECT_EQ(json::serialize(*FindArray(Ok("sagemaker", "ListTags", "{" + arn + "}"), "Tags")),
            R"([{"Key":"b","Value":"2"}])");
  EXPECT_TRUE(
      Refusal("sagemaker", "AddTags", "{" + arn + R"(,"Tags":[{"Key":"aws:x","Value":""}]})")
          .starts_with("ValidationException: Tag key 'aws:x' is not allowed"));
  EXPECT_EQ(
      Refusal("sagemaker", "ListTags",
              R"({"ResourceArn":"arn:aws:sagemaker:us-west-2:123456789012:training-job/no"})"),
      "ValidationException: Requested resource not found.");
  EXPECT_TRUE(
      Refusal("sagemaker", "ListTags",
              R"({"ResourceArn":"arn:aws:sagemaker:eu-west-1:123456789012:training-job/t"})")
          .starts_with("ValidationException: Resource arn:aws:sagemaker:eu-west-1"));
  json::array many;
  for (int i = 0; i < 50; ++i)
    many.push_back(json::object{{"Key", fmt::format("k{}", i)}, {"Value", ""}});
  EXPECT_TRUE(
      Refusal("sagemaker", "AddTags", "{" + arn + ",\"Tags\":" + json::serialize(many) + "}")
          .starts_with("ResourceLimitExceeded: "));
}

}  // namespace
}  // namespace sabia::api
