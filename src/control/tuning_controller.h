// Brings every tuning job to its end: the loop that decides which one is looked at next.
//
// Level-based: a commit of a tuning job or of one of its training jobs, and a timer, only mark it
// as worth a look (tuning_worker.h). Looks run on the executor, as a search may think for long; one
// at a time per job. A training job says by its name whose trial it may be; one that only looks
// like a trial costs a look.
//
// Crash safety: nothing here is remembered. Recover() reads the live records and goes on.
//
// Threading: RecordChanged is thread-safe. Recover and Turn belong to one thread: the loop's after
// Start(), the test's without it.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "control/executor.h"
#include "control/tuning_worker.h"

namespace sabia::control {

struct TuningControllerSettings {
  TuningWorkerSettings worker;
  // Looks at different jobs at once, at most: searches take processors from training jobs.
  int parallel_looks = 2;
};

class TuningController {
 public:
  // All must outlive the controller.
  TuningController(const TuningPorts& ports, Executor& executor,
                   const TuningControllerSettings& settings);
  ~TuningController();  // Stop()

  // Takes over what an earlier daemon left. Once, before Start or Turn.
  Status Recover();
  void Start();
  void Stop();  // waits for looks under way; training jobs run on
  // Instead of Stop(), when a look died and will never report: for tests, without Start().
  void Abandon() { in_flight_ = 0; }

  // For Resources::OnCommit.
  void RecordChanged(store::Kind kind, const std::string& name);

  // Does everything that is ready. Returns how long nothing will be, unless something happens.
  Millis Turn();
  bool idle() const { return in_flight_ == 0 && ready_.empty(); }

 private:
  struct Letters {
    std::set<std::string> changed;  // tuning jobs whose record changed
    // Training jobs that changed, by the tuning job whose trials they may be.
    std::map<std::string, std::set<std::string>> trials;
    std::vector<std::unique_ptr<TuningWork>> done;
    bool empty() const { return changed.empty() && trials.empty() && done.empty(); }
  };
  struct Job {
    std::unique_ptr<TuningWork> work;  // null while a look is under way
    bool stale_record = false;         // apply at the next look
    bool stale_trials = false;
    std::set<std::string> changed;
    bool again = false;  // something changed while a look was under way
    bool ready = false;  // stands in ready_
    std::optional<WallTime> due;
  };

  void MakeReady(const std::string& name, Job& job);
  void Hear(Letters& letters);
  void Absorb(std::unique_ptr<TuningWork> work);
  void FireTimers();
  void Dispatch();
  void Look(Job& job);
  Millis UntilNext() const;

  const TuningPorts ports_;
  const TuningControllerSettings settings_;
  Executor& executor_;
  TuningWorker worker_;

  std::mutex mutex_;
  std::condition_variable arrived_;
  Letters letters_;      // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_

  // Confined to the loop.
  std::map<std::string, Job> jobs_;
  std::deque<std::string> ready_;
  int in_flight_ = 0;
  std::thread thread_;
};

// The tuning job that a training job of this name would be a trial of (model::TrialName); nothing
// for other names.
std::optional<std::string> OwnerByName(std::string_view training_job);

}  // namespace sabia::control
