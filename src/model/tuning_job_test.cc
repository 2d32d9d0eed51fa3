#include "model/tuning_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace sabia::model {
namespace {

WallTime At(std::int64_t seconds) { return FromUnixMillis(1'700'000'000'000 + seconds * 1000); }

TuningJob AJob() {
  TuningJob job;
  job.uid = "0123456789ab";
  job.name = "search";
  job.arn = TuningJobArn("us-west-2", "123456789012", "search");
  job.created = job.modified = At(0);
  job.request =
      json::object{{"WarmStartConfig",
                    {{"ParentHyperParameterTuningJobs",
                      json::array{json::object{{"HyperParameterTuningJobName", "first"}},
                                  json::object{{"HyperParameterTuningJobName", "second"}}}},
                     {"WarmStartType", "TransferLearning"}}}};
  job.seed = 7;
  return job;
}

TEST(TuningJob, SurvivesTheRoundTripThroughJson) {
  TuningJob job = AJob();
  job.phase = TuningPhase::kFinishing;
  job.end = TuningEnd::kConverged;
  job.end_note = "after 40 trials";
  job.ended = At(9);
  job.failure_reason = "none";
  job.trials = {1, 2, 3, 4, 5};
  job.objectives = {6, 7, 8};
  job.best = TuningBest{"search-001-00000000", "search", "d", "rmse", 0.1};
  job.overall_best = TuningBest{"first-001-00000000", "first", "d", "rmse", 0.05};
  job.not_improving = 4;
  job.converged = At(8);
  job.stop_requested = At(9);
  job.notes = {"a note"};
  const auto read = TuningJob::FromJson(*ParseJsonObject(job.ToText()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ToJson(), job.ToJson());
  EXPECT_EQ(read->Created(), 15);
  EXPECT_EQ(read->best->value, 0.1);
  EXPECT_EQ(read->overall_best->tuning_job, "first");
  EXPECT_THAT(read->ParentNames(), ::testing::ElementsAre("first", "second"));
}

TEST(TuningJob, NamesTheMemberThatIsCorrupt) {
  json::object document = AJob().ToJson();
  document["phase"] = "dancing";
  const auto read = TuningJob::FromJson(document);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(read.error().message.find("'phase'"), std::string::npos);
}

TEST(TuningTrial, SurvivesTheRoundTripThroughJson) {
  TuningTrial trial;
  trial.training_job = "search-001-00000000";
  trial.tuning_job = "search";
  trial.number = 3;
  trial.definition = "d";
  trial.parameters = {{"zeta", "0.1"}, {"alpha", "\"quoted\""}};
  trial.reason = "quasi-random";
  trial.resource = 9;
  trial.continues = 1;
  trial.created = At(1);
  trial.known = 2;
  trial.stop = TrialStop::kMedianRule;
  trial.stop_note = "at epoch 3";
  trial.result = TrialResult::kStopped;
  trial.objective_status = ObjectiveStatus::kSucceeded;
  trial.objective = 1.0 / 3;
  trial.failure = "";
  trial.finished = 2;
  trial.seconds = 1.5;
  trial.curve = {{1, 0.5}, {2, 1.0 / 3}};
  const auto read = TuningTrial::FromJson(*ParseJsonObject(json::serialize(trial.ToJson())));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ToJson(), trial.ToJson());
  EXPECT_EQ(read->parameters, trial.parameters) << "in their order, byte for byte";
  EXPECT_EQ(read->objective, trial.objective) << "to the last bit";
  EXPECT_EQ(read->curve.back().value, 1.0 / 3);
}

TEST(TuningTrial, HasNoObjectiveUntilItIsSaid) {
  const auto read = TuningTrial::FromJson(TuningTrial().ToJson());
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->objective);
  EXPECT_FALSE(read->resource);
  EXPECT_FALSE(read->ended());
}

TEST(TuningTrial, RefusesADamagedParameterOrCurve) {
  json::object document = TuningTrial().ToJson();
  document["parameters"] = json::array{json::array{"alone"}};
  EXPECT_FALSE(TuningTrial::FromJson(document));
  document = TuningTrial().ToJson();
  document["curve"] = json::array{json::array{"x", 1}};
  EXPECT_FALSE(TuningTrial::FromJson(document));
}

TEST(TrialName, IsTheSameForEverAndDiffersByNumberSaltAndJob) {
  TuningJob job = AJob();
  EXPECT_EQ(TrialName(job, 3, 0), TrialName(job, 3, 0));
  EXPECT_THAT(TrialName(job, 3, 0), ::testing::MatchesRegex("search-003-[0-9a-f]{8}"));
  EXPECT_THAT(TrialUid(job, 3, 0), ::testing::MatchesRegex("[0-9a-f]{12}"));
  std::set<std::string> names;
  std::set<std::string> uids;
  for (const char* uid : {"0123456789ab", "0123456789ac"}) {
    job.uid = uid;
    for (int number = 1; number <= 750; ++number) {
      for (const int salt : {0, 1}) {
        names.insert(TrialName(job, number, salt));
        uids.insert(TrialUid(job, number, salt));
      }
    }
  }
  EXPECT_EQ(names.size(), 3000u);
  EXPECT_EQ(uids.size(), 3000u);
}

TEST(TuningJobArn, GivesTheNameBack) {
  EXPECT_EQ(TuningJobOfArn(TuningJobArn("us-west-2", "123456789012", "search")), "search");
}

TEST(ConsumedRuntime, RunsUntilTheEnd) {
  TuningJob job = AJob();
  EXPECT_EQ(ConsumedRuntime(job, At(5) + Millis(900)), Seconds(5));
  job.ended = At(3);
  EXPECT_EQ(ConsumedRuntime(job, At(5)), Seconds(3));
}

// docs/semantics/tuning.md holds the table of phases between these marks. After a change of the
// edges: model_test --gtest_also_run_disabled_tests --gtest_filter='TuningStates.*WriteTheTable'
const char* const kDocument = SABIA_SOURCE_DIR "/docs/semantics/tuning.md";
constexpr std::string_view kBegin = "<!-- states -->\n";
constexpr std::string_view kEnd = "<!-- end of states -->\n";

std::string Table() {
  std::string out =
      "| phase | HyperParameterTuningJobStatus | next |\n"
      "|---|---|---|\n";
  for (int i = 0; i <= static_cast<int>(TuningPhase::kStopped); ++i) {
    const auto phase = static_cast<TuningPhase>(i);
    std::string next;
    for (const auto& edge : kTuningEdges) {
      if (edge.from == phase) next.append(next.empty() ? "" : ", ").append(Name(edge.to));
    }
    out += fmt::format("| {} | {} | {} |\n", Name(phase), PrimaryStatus(phase),
                       next.empty() ? "–" : next);
  }
  return out;
}

std::string Document() {
  std::ifstream file(kDocument);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

TEST(TuningStates, TheTableIsUpToDate) {
  const std::string document = Document();
  const auto begin = document.find(kBegin);
  const auto end = document.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const auto from = begin + kBegin.size();
  EXPECT_EQ(document.substr(from, end - from), Table());
}

TEST(TuningStates, DISABLED_WriteTheTable) {
  std::string document = Document();
  const auto from = document.find(kBegin) + kBegin.size();
  document.replace(from, document.find(kEnd) - from, Table());
  std::ofstream(kDocument) << document;
}

}  // namespace
}  // namespace sabia::model
