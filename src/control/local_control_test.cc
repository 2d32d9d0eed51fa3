// The control plane of one machine with everything real but the agent: a shell script plays it.
#include "control/local_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/log.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"
#include "env/posix/posix_random.h"
#include "store/testing/state.h"
#include "store/training_job_row.h"

namespace sabia::control {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Takes the lock, reports that it trains, waits for the file "go" beside the home or for an order
// to stop, and reports how it ended. Everything it did goes to a line of its own in "runs".
constexpr char kAgent[] = R"sh(
home=$(dirname "$(dirname "$1")"); cd "$1" || exit 1
exec 9>lock; flock -x -w 1 9 || exit 3
echo "$(basename "$1")" >> "$home/runs"
report() { printf '%s' "$1" > report.tmp && mv report.tmp report.json; }
began='"preparing":'$(date +%s%3N)
report '{"phase":"preparing","pid":'$$',"began":{'$began'}}'
began=$began',"training":'$(date +%s%3N)
report '{"phase":"training","pid":'$$',"began":{'$began'}}'
until [ -e "$home/go" ] || grep -q requested orders.json 2>/dev/null; do sleep 0.02; done
stopped=none; grep -q requested orders.json 2>/dev/null && stopped=requested
echo '{"name":"loss","value":0.5,"time":'$(date +%s%3N)'}' > metrics.log
began=$began',"done":'$(date +%s%3N)
report '{"phase":"done","pid":'$$',"began":{'$began'},"exit_code":0,'\
'"stopped_for":"'$stopped'","model_uploaded":true}'
)sh";

class LocalControlTest : public ::testing::Test {
 protected:
  LocalControlTest() {
    SetLogLevel(LogLevel::kError);
    objects_ = std::move(*objects::ObjectStore::Open({.paths = state_.paths()}, clock_, random_));
    EXPECT_TRUE(objects_->CreateBucket("data", "us-west-2"));
    buckets_ = std::move(
        *objects::Buckets::Open(*objects_, {.file = state_.paths().external_s3()}, files_, clock_));
    StartDaemon();
  }

  void StartDaemon() {
    control_.reset();
    LocalControlOptions options{.paths = state_.paths(), .machine = {8, std::int64_t{32} << 30, 0}};
    options.launcher.command = {"/bin/sh", "-c", kAgent, "agent"};
    options.controller.worker.spec.endpoint = "http://127.0.0.1:1";
    options.controller.worker.abort_on_illegal_step = true;
    auto control = LocalControl::Create({state_.resources(), state_.series(), *objects_, *buckets_,
                                         authority_, files_, clock_, random_},
                                        options);
    ASSERT_TRUE(control) << control.error().message;
    control_ = std::move(*control);
    ASSERT_TRUE(control_->Start());
  }

  void Submit(const std::string& channel_uri) {
    model::TrainingJob job;
    job.uid = "0123456789ab";
    job.name = "job";
    job.created = job.modified = clock_.Wall();
    const json::object source{{"S3DataType", "S3Prefix"}, {"S3Uri", channel_uri}};
    job.request = {
        {"RoleArn", "arn:aws:iam::123456789012:role/r"},
        {"AlgorithmSpecification", {{"TrainingImage", "sabia/python:3"}}},
        {"InputDataConfig",
         json::array{json::object{{"ChannelName", "train"},
                                  {"DataSource", json::object{{"S3DataSource", source}}}}}},
        {"OutputDataConfig", {{"S3OutputPath", "s3://data/out"}}},
        {"ResourceConfig", {{"InstanceCount", 1}, {"InstanceType", "ml.m5.large"}}},
        {"StoppingCondition", {{"MaxRuntimeInSeconds", 3600}}}};
    EnterStatus(job, "Starting", "Starting the training job", job.created);
    ASSERT_TRUE(
        state_.resources().Commit({{store::Change::Op::kInsert, store::RowOf(job, 0), {}, {}}}));
  }

  void Put(const std::string& key, std::string_view content) {
    auto upload = objects_->BeginUpload({});
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->Write(content));
    ASSERT_TRUE(objects_->Put("data", key, std::move(*upload), {}));
  }

  model::TrainingJob Job() {
    const auto row = state_.resources().Get(store::Kind::kTrainingJob, "job");
    return store::TrainingJobOf(*row).value();
  }
  bool Await(const std::function<bool()>& condition) {
    constexpr Seconds kPatience{30};
    const MonoTime end = clock_.Mono() + kPatience;
    while (!condition()) {
      if (clock_.Mono() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool AwaitPhase(model::TrainingPhase phase) {
    return Await([&] { return Job().phase == phase; });
  }
  std::string ReadHome(const std::string& name) {
    return files_.Read(state_.paths().home() / name, 1 << 20).value_or("");
  }

  store::testing::TemporaryState state_;
  env::PosixClock clock_;
  env::PosixRandom random_;
  env::PosixFiles files_;
  wire::CredentialAuthority authority_{{"AKIA0000000000000000", std::string(40, 's')},
                                       "123456789012"};
  std::unique_ptr<objects::ObjectStore> objects_;
  std::unique_ptr<objects::Buckets> buckets_;
  std::unique_ptr<LocalControl> control_;
};

TEST_F(LocalControlTest, RunsAJobInARealProcessAndClearsUp) {
  Put("in/a.csv", "1,2\n");
  Submit("s3://data/in");
  ASSERT_TRUE(AwaitPhase(model::TrainingPhase::kTraining));
  const auto spec = files_.Read(state_.paths().instance("0123456789ab-1-1") / "spec.json", 1 << 20);
  ASSERT_TRUE(spec);
  EXPECT_THAT(*spec, HasSubstr("\"access_key_id\":\"ASIA"));
  const auto listing =
      files_.Read(state_.paths().instance("0123456789ab-1-1") / "channel-0.jsonl", 1 << 20);
  EXPECT_THAT(listing.value_or(""), HasSubstr("{\"path\":\"a.csv\",\"size\":4,\"blob\":\"" +
                                              state_.paths().blobs().native()));
  ASSERT_TRUE(files_.WriteAtomically(state_.paths().home() / "go", "", {}));
  ASSERT_TRUE(AwaitPhase(model::TrainingPhase::kCompleted)) << Job().failure_reason;
  EXPECT_TRUE(Await([&] { return files_.List(state_.paths().instances())->empty(); }));
  const store::SeriesKey key{"/aws/sagemaker/TrainingJobs", "loss", {{"TrainingJobName", "job"}}};
  EXPECT_EQ(state_.series().Query(key, Job().created, clock_.Wall() + Seconds(1))->size(), 1u);
}

TEST_F(LocalControlTest, AdoptsARunningAgentAfterARestart) {
  Put("in/a.csv", "1,2\n");
  Submit("s3://data/in");
  ASSERT_TRUE(AwaitPhase(model::TrainingPhase::kTraining));
  StartDaemon();
  ASSERT_TRUE(files_.WriteAtomically(state_.paths().home() / "go", "", {}));
  ASSERT_TRUE(AwaitPhase(model::TrainingPhase::kCompleted)) << Job().failure_reason;
  EXPECT_EQ(ReadHome("runs"), "0123456789ab-1-1\n") << "it ran once";
}

TEST_F(LocalControlTest, StopsAJobThroughItsOrders) {
  Put("in/a.csv", "1,2\n");
  Submit("s3://data/in");
  ASSERT_TRUE(AwaitPhase(model::TrainingPhase::kTraining));
  // As StopTrainingJob does, again when the controller wrote first.
  ASSERT_TRUE(Await([&] {
    const auto row = state_.resources().Get(store::Kind::kTrainingJob, "job");
    model::TrainingJob job = Job();
    job.stop_requested = clock_.Wall();
    return state_.resources()
        .Commit({{store::Change::Op::kUpdate, store::RowOf(job, row->revision), {}, {}}})
        .has_value();
  }));
  ASSERT_TRUE(AwaitPhase(model::TrainingPhase::kStopped));
  EXPECT_TRUE(Job().model_uploaded);
}

TEST_F(LocalControlTest, NamesTheChannelWhoseDataIsGone) {
  Submit("s3://data/gone");
  ASSERT_TRUE(AwaitPhase(model::TrainingPhase::kFailed));
  EXPECT_THAT(Job().failure_reason,
              HasSubstr("ClientError: Data download failed: channel 'train' (s3://data/gone)"));
  EXPECT_EQ(ReadHome("runs"), "") << "no agent was started";
  EXPECT_THAT(*state_.resources().Live(store::Kind::kInstance), IsEmpty());
}

}  // namespace
}  // namespace sabia::control
