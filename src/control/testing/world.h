// The real controllers on a fake machine: a clock that the test moves, records and agents in
// memory, one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/testing/fake_ports.h"
#include "control/testing/faults.h"
#include "control/training_controller.h"
#include "control/tuning_controller.h"
#include "env/testing/manual_clock.h"
#include "fleet/testing/fake_fleet.h"

namespace sabia::control::testing {

struct SubmitOptions {
  int hosts = 1;
  bool spot = false;
  int max_runtime = 3600;
  int max_wait = 0;  // 0: absent
  int retries = 0;
  bool checkpoints = false;  // CheckpointConfig
  std::optional<model::Deadline> deadline;
  int keep_alive = 0;   // 0: absent
  int volume = 0;       // 0: absent
  std::string channel;  // S3 URI of one File channel; "" for none
  std::string instance_type = "ml.m5.large";
};

class World {
 public:
  explicit World(fleet::MachineSize machine = {8, std::int64_t{32} << 30, 0},
                 const ControllerSettings& settings = {});
  ~World();

  env::ManualClock clock;
  fleet::testing::FakeFleet fleet{clock};
  FakeRecords records;
  FakeChannels channels;
  FakeMetrics metrics;
  FakeTrialFacts facts{metrics};
  FakeSessions sessions;
  Faults faults;

  void Submit(const std::string& name, const SubmitOptions& options = {});
  // A tuning job as the API would create it of this request.
  void SubmitTuning(const std::string& name, json::object request, std::int64_t seed = 1);
  model::TuningJob Tuning(const std::string& name);
  void EditTuning(const std::string& name, const std::function<void(model::TuningJob&)>& edit);
  std::vector<model::TuningTrial> Trials(const std::string& tuning_job);  // by number
  model::TrainingJob Job(const std::string& name);
  // Changes the record as an API call would, by compare-and-set.
  void Edit(const std::string& name, const std::function<void(model::TrainingJob&)>& edit);

  // Whether a poke of an agent gets lost on its way; asked for each.
  std::function<bool()> loses_poke;

  // The daemon dies: the controller is thrown away as it is.
  void KillDaemon();
  void StartDaemon();
  bool alive() const { return controller_ != nullptr; }
  // Runs the loop until it has nothing to do now. A daemon that dies is started again. Returns how
  // long nothing will be, unless something happens.
  Millis Turn();
  // Turns and moves the clock by 10 ms at a time until the condition holds; false when it does not
  // within an hour.
  bool RunUntil(const std::function<bool()>& condition);
  bool RunUntilQuiet();  // every job and tuning job has ended and nothing is left of it
  int restarts() const { return restarts_; }
  TrainingController& controller() { return *controller_; }

  // What must hold whenever the world is quiet; one sentence per violation.
  std::vector<std::string> Violations();
  // What must hold of a job that has ended.
  void CheckBilled(const model::TrainingJob& job, std::vector<std::string>& out);
  void CheckEnded(const std::string& name, std::vector<std::string>& out);
  // Of a job that has ended nothing is kept.
  void Forget(const std::string& name);

 private:
  void CheckTuning(const std::string& name, std::vector<std::string>& out);
  void CheckTimes(const model::TrainingJob& job, std::vector<std::string>& out);
  void CheckPool(const model::TrainingJob& job, std::vector<std::string>& out);

  const ControllerSettings settings_;
  fleet::Offer offer_;
  FaultyRecords faulty_records_{records, faults};
  FaultyFiles faulty_files_{fleet, faults};
  FaultyLauncher faulty_launcher_{fleet, faults};
  FaultyMetrics faulty_metrics_{metrics, faults};
  InlineExecutor executor_;
  std::unique_ptr<TrainingController> controller_;
  std::unique_ptr<TuningController> tuning_;
  std::vector<std::string> submitted_;  // and not forgotten
  std::vector<std::string> tunings_;
  std::size_t submissions_ = 0;
  int restarts_ = 0;
};

}  // namespace sabia::control::testing
