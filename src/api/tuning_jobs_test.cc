#include "api/tuning_jobs.h"

#include "api/tags.h"
#include "api/testing/api_fixture.h"
#include "api/testing/small_tuning_request.h"
#include "store/training_job_row.h"
#include "store/tuning_job_row.h"

namespace sabia::api {
namespace {

using model::ObjectiveStatus;
using model::TrialResult;

class TuningJobsTest : public ApiFixture {
 protected:
  TuningJobsTest() : jobs_(*resources_, *buckets_, random_) {
    RegisterTuningJobs(table_, jobs_);
    RegisterTags(table_, *resources_);
    PutObject("data", "train/part-0.csv", "1,2\n");
    PutObject("models", "keep", "");
  }

  std::string Create(std::string_view name, std::string_view change = "{}") {
    const Answer answer =
        Call("sagemaker", "CreateHyperParameterTuningJob", SmallTuningRequest(name, change));
    return answer ? "accepted" : answer.error().code + ": " + answer.error().message;
  }
  json::object On(const char* action, std::string_view name, std::string_view more = "") {
    return Ok("sagemaker", action,
              fmt::format(R"({{"HyperParameterTuningJobName":"{}"{}}})", name, more));
  }
  std::string RefusalOf(const char* action, std::string_view name, std::string_view more = "") {
    return Refusal("sagemaker", action,
                   fmt::format(R"({{"HyperParameterTuningJobName":"{}"{}}})", name, more));
  }
  // Rewrites the stored record, as a controller would.
  void Edit(std::string_view name, const std::function<void(model::TuningJob&)>& edit) {
    auto stored = jobs_.Load(name);
    ASSERT_TRUE(stored.has_value());
    edit(stored->job);
    ASSERT_TRUE(resources_
                    ->Commit({{store::Change::Op::kUpdate,
                               store::RowOf(stored->job, stored->row.revision),
                               {},
                               {}}})
                    .has_value());
  }
  // A trial that has ended, with a training job of that phase unless it was deleted.
  model::TuningTrial AddTrial(std::string_view name, int number, std::optional<double> objective,
                              std::optional<model::TrainingPhase> phase) {
    const auto stored = jobs_.Load(name);
    model::TuningTrial trial{
        .training_job = model::TrialName(stored->job, number, 0),
        .tuning_job = std::string(name),
        .number = number,
        .parameters = {{"rate", "0.01"}, {"depth", "3"}},
        .created = clock_.Wall() + Seconds(number),
        .result = TrialResult::kCompleted,
        .objective_status = objective ? ObjectiveStatus::kSucceeded : ObjectiveStatus::kFailed,
        .objective = objective,
        .finished = number};
    std::vector<store::Change> changes;
    changes.push_back({store::Change::Op::kInsert, store::RowOf(trial, 0, clock_.Wall()), {}, {}});
    if (phase) {
      model::TrainingJob training{.uid = model::TrialUid(stored->job, number, 0),
                                  .name = trial.training_job,
                                  .arn = "arn",
                                  .created = trial.created,
                                  .modified = trial.created,
                                  .tuning_job_arn = stored->job.arn,
                                  .phase = *phase};
      training.training_start = trial.created;
      if (*phase == model::TrainingPhase::kFailed) training.failure_reason = "AlgorithmError: x";
      changes.push_back({store::Change::Op::kInsert, store::RowOf(training, 0), {}, {}});
    }
    EXPECT_TRUE(resources_->Commit(changes).has_value());
    return trial;
  }
  // The numbers in the names of the trials on a page, such as "001 003".
  static std::string Numbers(const json::object& page) {
    std::string out;
    for (const json::value& row : *FindArray(page, "TrainingJobSummaries")) {
      const std::string name = GetString(row.get_object(), "TrainingJobName");
      out += (out.empty() ? "" : " ") + name.substr(name.size() - 12, 3);
    }
    return out;
  }
  std::string Listed(std::string_view more) {
    return Numbers(On("ListTrainingJobsForHyperParameterTuningJob", "t", more));
  }

  TuningJobs jobs_;
};

TEST_F(TuningJobsTest, DescribesWhatWasCreated) {
  EXPECT_EQ(Create("t", R"({"HyperParameterTuningJobConfig": {"RandomSeed": 7},
                            "Tags": [{"Key": "team", "Value": "ml"}]})"),
            "accepted");
  const json::object seen = On("DescribeHyperParameterTuningJob", "t");
  EXPECT_EQ(GetString(seen, "HyperParameterTuningJobArn"),
            "arn:aws:sagemaker:us-west-2:123456789012:hyper-parameter-tuning-job/t");
  EXPECT_EQ(GetString(seen, "HyperParameterTuningJobStatus"), "InProgress");
  EXPECT_EQ(seen.at("TrainingJobStatusCounters"), json::value({{"Completed", 0},
                                                               {"InProgress", 0},
                                                               {"RetryableError", 0},
                                                               {"NonRetryableError", 0},
                                                               {"Stopped", 0}}));
  EXPECT_FALSE(seen.contains("BestTrainingJob"));
  EXPECT_FALSE(seen.contains("Tags"));
  EXPECT_EQ(
      seen.at("TrainingJobDefinition").at("StaticHyperParameters").at("_tuning_objective_metric"),
      json::value("loss"));
  const auto stored = jobs_.Load("t");
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->job.seed, 7);
  EXPECT_TRUE(stored->row.live);
  const json::object tags =
      Ok("sagemaker", "ListTags", fmt::format(R"({{"ResourceArn":"{}"}})", stored->job.arn));
  EXPECT_EQ(tags.at("Tags"), json::value({{{"Key", "team"}, {"Value", "ml"}}}));
}

TEST_F(TuningJobsTest, ResourcesAndTheNumberOfTrialsAreShownInAnyCase) {
  EXPECT_EQ(Create("t", R"({"HyperParameterTuningJobConfig": {"Strategy": "Grid",
      "ResourceLimits": {"MaxNumberOfTrainingJobs": null},
      "ParameterRanges": {"ContinuousParameterRanges": null, "IntegerParameterRanges": null,
        "CategoricalParameterRanges": [{"Name": "a", "Values": ["x", "y"]}]}},
      "TrainingJobDefinition": {"ResourceConfig": null, "HyperParameterTuningResourceConfig":
        {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 3}}})"),
            "accepted");
  const json::object seen = On("DescribeHyperParameterTuningJob", "t");
  EXPECT_EQ(
      seen.at("HyperParameterTuningJobConfig").at("ResourceLimits").at("MaxNumberOfTrainingJobs"),
      json::value(2));
  EXPECT_EQ(seen.at("TrainingJobDefinition").at("ResourceConfig"),
            seen.at("TrainingJobDefinition").at("HyperParameterTuningResourceConfig"));
}

TEST_F(TuningJobsTest, ASeedIsDrawnWhenNoneIsGiven) {
  EXPECT_EQ(Create("t"), "accepted");
  EXPECT_EQ(Create("u"), "accepted");
  EXPECT_NE(jobs_.Load("t")->job.seed, jobs_.Load("u")->job.seed);
  EXPECT_GE(jobs_.Load("t")->job.seed, 0);
}

TEST_F(TuningJobsTest, ATakenNameIsSaid) {
  EXPECT_EQ(Create("t"), "accepted");
  constexpr char kTaken[] =
      "ResourceInUse: A hyperparameter tuning job with the name, t, already exists. Choose a "
      "different name.";
  EXPECT_EQ(Create("t"), kTaken);
  EXPECT_EQ(Create("t", R"({"TrainingJobDefinition": {"OutputDataConfig":
                            {"S3OutputPath": "s3://gone/x"}}})"),
            kTaken);
}

TEST_F(TuningJobsTest, BucketsAndDataMustBeThere) {
  EXPECT_TRUE(Create("t", R"({"TrainingJobDefinition": {"OutputDataConfig":
                              {"S3OutputPath": "s3://gone/x"}}})")
                  .starts_with("ValidationException: S3OutputPath 's3://gone/x' names bucket"));
  EXPECT_TRUE(Create("t", R"({"TrainingJobDefinition": {"InputDataConfig": [{"ChannelName": "train",
       "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://data/no"}}}]}})")
                  .starts_with("ValidationException: No S3 objects found under S3 URL"));
}

TEST_F(TuningJobsTest, AnUnknownNameIsSaidByEveryAction) {
  for (const char* action :
       {"DescribeHyperParameterTuningJob", "StopHyperParameterTuningJob",
        "DeleteHyperParameterTuningJob", "ListTrainingJobsForHyperParameterTuningJob"}) {
    EXPECT_EQ(RefusalOf(action, "x"),
              "ResourceNotFound: Amazon SageMaker can't find a tuning job called x. Type another "
              "name.")
        << action;
  }
}

TEST_F(TuningJobsTest, StopLeavesAnIntentAndShowsAtOnce) {
  Create("t");
  On("StopHyperParameterTuningJob", "t");
  clock_.Advance(Seconds(5));
  On("StopHyperParameterTuningJob", "t");
  EXPECT_EQ(*jobs_.Load("t")->job.stop_requested, clock_.Wall() - Seconds(5));
  EXPECT_EQ(GetString(On("DescribeHyperParameterTuningJob", "t"), "HyperParameterTuningJobStatus"),
            "Stopping");
  Edit("t", [](model::TuningJob& job) { job.phase = model::TuningPhase::kStopped; });
  EXPECT_EQ(RefusalOf("StopHyperParameterTuningJob", "t"),
            "ValidationException: The request was rejected because the hyperparameter tuning job "
            "'t' is already in status Stopped.");
}

TEST_F(TuningJobsTest, DeleteTakesTrialsAndTagsButNoTrainingJob) {
  Create("t", R"({"Tags": [{"Key": "team", "Value": "ml"}]})");
  const std::string arn = jobs_.Load("t")->job.arn;
  EXPECT_TRUE(RefusalOf("DeleteHyperParameterTuningJob", "t").find("not in a terminal state") !=
              std::string::npos);
  const auto trial = AddTrial("t", 1, 0.5, model::TrainingPhase::kCompleted);
  Edit("t", [](model::TuningJob& job) { job.phase = model::TuningPhase::kCompleted; });
  On("DeleteHyperParameterTuningJob", "t");
  EXPECT_TRUE(RefusalOf("DescribeHyperParameterTuningJob", "t").starts_with("ResourceNotFound"));
  EXPECT_FALSE(resources_->Get(store::Kind::kTuningTrial, trial.training_job).has_value());
  EXPECT_TRUE(resources_->Get(store::Kind::kTrainingJob, trial.training_job).has_value());
  EXPECT_TRUE(resources_->GetTags(arn)->empty());
  EXPECT_EQ(Create("t"), "accepted") << "the name is free again";
}

TEST_F(TuningJobsTest, TheBestTrialIsSummarised) {
  Create("t");
  const auto trial = AddTrial("t", 1, 0.25, model::TrainingPhase::kCompleted);
  Edit("t", [&](model::TuningJob& job) {
    job.best = model::TuningBest{trial.training_job, "t", "", "loss", 0.25};
    job.overall_best = model::TuningBest{"of-a-deleted-parent", "p", "", "loss", 0.125};
  });
  const json::object seen = On("DescribeHyperParameterTuningJob", "t");
  const json::object& best = seen.at("BestTrainingJob").get_object();
  EXPECT_EQ(GetString(best, "TrainingJobName"), trial.training_job);
  EXPECT_EQ(GetString(best, "TrainingJobStatus"), "Completed");
  EXPECT_EQ(GetString(best, "ObjectiveStatus"), "Succeeded");
  EXPECT_EQ(best.at("TunedHyperParameters"), json::value({{"rate", "0.01"}, {"depth", "3"}}));
  EXPECT_EQ(best.at("FinalHyperParameterTuningJobObjectiveMetric"),
            json::value({{"Type", "Minimize"}, {"MetricName", "loss"}, {"Value", 0.25}}));
  EXPECT_TRUE(best.contains("TrainingStartTime"));
  EXPECT_FALSE(seen.contains("OverallBestTrainingJob"));
}

TEST_F(TuningJobsTest, TrialsAreListedInEveryOrder) {
  Create("t");
  AddTrial("t", 1, 0.5, model::TrainingPhase::kCompleted);
  AddTrial("t", 2, std::nullopt, model::TrainingPhase::kFailed);
  AddTrial("t", 3, 0.25, model::TrainingPhase::kStopped);
  AddTrial("t", 4, 0.75, std::nullopt);  // its training job was deleted
  EXPECT_EQ(Listed(""), "001 002 003 004");
  EXPECT_EQ(Listed(R"(,"SortOrder":"Descending")"), "004 003 002 001");
  EXPECT_EQ(Listed(R"(,"SortBy":"CreationTime","SortOrder":"Descending")"), "004 003 002 001");
  EXPECT_EQ(Listed(R"(,"SortBy":"FinalObjectiveMetricValue")"), "003 001 004");
  EXPECT_EQ(Listed(R"(,"SortBy":"FinalObjectiveMetricValue","SortOrder":"Descending")"),
            "004 001 003");
  EXPECT_EQ(Listed(R"(,"SortBy":"Status")"), "001 004 002 003");
  EXPECT_EQ(Listed(R"(,"StatusEquals":"Failed")"), "002");
  EXPECT_EQ(Listed(R"(,"StatusEquals":"InProgress")"), "");
}

TEST_F(TuningJobsTest, PagesOfTrialsCoverAllOnceWhileTrialsAreAdded) {
  Create("t");
  Create("u");
  for (const int number : {1, 3, 5}) {
    AddTrial("t", number, number, model::TrainingPhase::kCompleted);
  }
  const auto page = [&](std::string_view job, const std::string& more) {
    return On("ListTrainingJobsForHyperParameterTuningJob", job, R"(,"MaxResults":2)" + more);
  };
  const json::object first = page("t", "");
  EXPECT_EQ(Numbers(first), "001 003");
  const std::string token = GetString(first, "NextToken");
  AddTrial("t", 2, 2, model::TrainingPhase::kCompleted);  // behind the page's end: not shown
  AddTrial("t", 4, 4, model::TrainingPhase::kCompleted);
  const json::object second = page("t", fmt::format(R"(,"NextToken":"{}")", token));
  EXPECT_EQ(Numbers(second), "004 005");
  EXPECT_FALSE(second.contains("NextToken"));
  const auto refusal = [&](std::string_view job, std::string_view more) {
    return RefusalOf("ListTrainingJobsForHyperParameterTuningJob", job, more);
  };
  constexpr char kBad[] = "ValidationException: Invalid NextToken";
  EXPECT_TRUE(refusal("t", R"(,"NextToken":"bogus")").starts_with(kBad));
  EXPECT_TRUE(refusal("u", fmt::format(R"(,"NextToken":"{}")", token)).starts_with(kBad));
  EXPECT_TRUE(
      refusal("t", fmt::format(R"(,"SortBy":"Status","NextToken":"{}")", token)).starts_with(kBad));
}

TEST_F(TuningJobsTest, TheListFiltersAndSortsByName) {
  for (const char* name : {"beta", "alpha", "gamma"}) {
    Create(name);
    clock_.Advance(Seconds(10));
  }
  Edit("beta", [](model::TuningJob& job) { job.phase = model::TuningPhase::kCompleted; });
  const auto names = [&](std::string_view request) {
    std::string out;
    const json::object page = Ok("sagemaker", "ListHyperParameterTuningJobs", request);
    for (const json::value& row : *FindArray(page, "HyperParameterTuningJobSummaries")) {
      out += GetString(row.get_object(), "HyperParameterTuningJobName") + " ";
    }
    return out;
  };
  EXPECT_EQ(names("{}"), "alpha beta gamma ");
  EXPECT_EQ(names(R"({"SortBy":"CreationTime","SortOrder":"Descending"})"), "gamma alpha beta ");
  EXPECT_EQ(names(R"({"StatusEquals":"Completed"})"), "beta ");
  EXPECT_EQ(names(R"({"NameContains":"mm"})"), "gamma ");
  const double after = ToUnixSeconds(clock_.Wall()) - 15;
  EXPECT_EQ(names(fmt::format(R"({{"CreationTimeAfter":{}}})", after)), "gamma ");
  const json::object page = Ok("sagemaker", "ListHyperParameterTuningJobs", R"({"MaxResults":2})");
  EXPECT_TRUE(page.contains("NextToken"));
  EXPECT_EQ(
      names(fmt::format(R"({{"MaxResults":2,"NextToken":"{}"}})", GetString(page, "NextToken"))),
      "gamma ");
  EXPECT_TRUE(Refusal("sagemaker", "ListHyperParameterTuningJobs", R"({"NextToken":"bogus"})")
                  .starts_with("ValidationException: Invalid NextToken"));
  const json::object& summary =
      FindArray(page, "HyperParameterTuningJobSummaries")->front().get_object();
  EXPECT_EQ(GetString(summary, "Strategy"), "Bayesian");
  EXPECT_EQ(summary.at("ResourceLimits").at("MaxNumberOfTrainingJobs"), json::value(10));
}

TEST_F(TuningJobsTest, WarmStartNeedsParentsThatAreThere) {
  constexpr char kWarm[] = R"({"WarmStartConfig": {"WarmStartType": "IdenticalDataAndAlgorithm",
       "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "p"}]}})";
  EXPECT_EQ(Create("t", kWarm),
            "ValidationException: Amazon SageMaker can't find a tuning job called p. Type another "
            "name.");
  Create("p");
  EXPECT_TRUE(
      Create("t", kWarm)
          .starts_with("ValidationException: Parent tuning job 'p' is in status InProgress"));
  Edit("p", [](model::TuningJob& job) { job.phase = model::TuningPhase::kStopped; });
  EXPECT_EQ(Create("t", kWarm), "accepted");
  EXPECT_EQ(jobs_.Load("t")->job.ParentNames(), std::vector<std::string>{"p"});
}

TEST_F(TuningJobsTest, TagsBelongToAnExistingTuningJob) {
  Create("t");
  const std::string arn = jobs_.Load("t")->job.arn;
  Ok("sagemaker", "AddTags",
     fmt::format(R"({{"ResourceArn":"{}","Tags":[{{"Key":"a","Value":"1"}}]}})", arn));
  EXPECT_EQ(Ok("sagemaker", "ListTags", fmt::format(R"({{"ResourceArn":"{}"}})", arn)).at("Tags"),
            json::value({{{"Key", "a"}, {"Value", "1"}}}));
  Ok("sagemaker", "DeleteTags", fmt::format(R"({{"ResourceArn":"{}","TagKeys":["a"]}})", arn));
  EXPECT_TRUE(resources_->GetTags(arn)->empty());
  EXPECT_TRUE(Refusal("sagemaker", "ListTags", fmt::format(R"({{"ResourceArn":"{}x"}})", arn))
                  .starts_with("ResourceNotFound: Amazon SageMaker can't find a tuning job"));
}

}  // namespace
}  // namespace sabia::api
