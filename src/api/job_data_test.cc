#include "api/job_data.h"

#include "api/testing/api_fixture.h"
#include "model/instance_record.h"
#include "model/training_job.h"

namespace sabia::api {
namespace {

class JobDataTest : public ApiFixture {
 protected:
  void Have(const model::TrainingJob& job, const std::vector<std::string>& instances) {
    std::vector<store::Change> changes;
    store::Resource row;
    row.kind = store::Kind::kTrainingJob;
    row.name = job.name;
    row.document = json::serialize(job.ToJson());
    changes.push_back({store::Change::Op::kInsert, row, {}, {}});
    for (const std::string& id : instances) {
      row.kind = store::Kind::kInstance;
      row.name = id;
      row.parent = job.name;
      changes.push_back({store::Change::Op::kInsert, row, {}, {}});
    }
    ASSERT_TRUE(resources_->Commit(changes));
  }
  json::object Data() {
    const auto answer =
        DescribeJobData(*resources_,
                        [this](const std::string& id) -> std::optional<model::Report> {
                          const auto found = reports_.find(id);
                          if (found == reports_.end()) return std::nullopt;
                          return found->second;
                        },
                        {{"TrainingJobName", "j"}});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(json::object());
  }

  std::map<std::string, model::Report> reports_;
};

TEST_F(JobDataTest, AddsWhatRunsToWhatHasEnded) {
  model::TrainingJob job;
  job.name = "j";
  job.phase = model::TrainingPhase::kTraining;
  const model::ChannelReport piped{.name = "p",
                                   .mode = model::InputMode::kPipe,
                                   .way = "pipe",
                                   .objects = 1,
                                   .bytes = 1000,
                                   .epochs = 2,
                                   .epochs_delivered = 1,
                                   .epochs_cut = 1,
                                   .starved = Millis(250),
                                   .served = Millis(500)};
  job.channels = {piped};
  Have(job, {"i-1", "i-2"});
  reports_["i-1"].channels = {piped, {.name = "f", .way = "view", .objects = 3, .bytes = 9}};
  EXPECT_EQ(
      Data(),
      *ParseJsonObject(
          R"({"TrainingJobName":"j","Final":false,"Channels":[)"
          R"({"ChannelName":"p","InputMode":"Pipe","Way":"pipe","Hosts":2,"Objects":2,)"
          R"("Bytes":2000,"Epochs":4,"EpochsDelivered":2,"EpochsCut":2,"ServedSeconds":1E0,)"
          R"("StarvedSeconds":5E-1,"BlockedSeconds":0E0,"UnopenedSeconds":0E0,)"
          R"("BytesPerSecond":2E3},)"
          R"({"ChannelName":"f","InputMode":"File","Way":"view","Hosts":1,"Objects":3,"Bytes":9}]})"));
}

TEST_F(JobDataTest, RefusesAJobThatNobodyKnows) {
  const auto answer = DescribeJobData(*resources_, [](const std::string&) { return std::nullopt; },
                                      {{"TrainingJobName", "x"}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "Requested resource not found.");
}

}  // namespace
}  // namespace sabia::api
