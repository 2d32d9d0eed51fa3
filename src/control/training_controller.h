// Brings every training job to its end: the loop that decides which job is looked at next.
//
// Level-based: a committed record, a poke of an agent, a timer or the one-second sweep over running
// instances only marks a job as worth a look; what happens then depends on what is found. A look
// (training_worker.h) runs on the executor, one at a time per job. Waiting jobs cost a place in the
// queue and a timer, nothing else: only those near its head are looked at, to say that they wait.
//
// Crash safety: nothing here is remembered. Recover() reads the live records and leases, finds
// running agents by their locks, and goes on.
//
// Threading: RecordChanged and Poke are thread-safe. Recover and Turn belong to one thread: the
// loop's after Start(), the test's without it. Time: wall clock for deadlines, which are records of
// wall time; monotonic for the sweep.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "control/executor.h"
#include "control/inbox.h"
#include "control/training_worker.h"
#include "fleet/capacity.h"
#include "fleet/pool_board.h"

namespace sabia::control {

struct ControllerSettings {
  WorkerSettings worker;
  // Looks at different jobs at once, at most.
  int parallel_looks = 16;
  // How often running instances are looked at without a poke.
  Millis sweep_interval{1'000};
  // How often the jobs at the head of the queue tell their position anew.
  Millis position_interval{10'000};
};

class TrainingController {
 public:
  // All must outlive the controller.
  TrainingController(const Ports& ports, const fleet::Offer& offer, Executor& executor,
                     store::Paths paths, ControllerSettings settings);
  ~TrainingController();  // Stop()

  // Takes over what an earlier daemon left. Once, before Start or Turn.
  Status Recover();
  void Start();
  void Stop();  // waits for looks under way; agents run on
  // Instead of Stop(), when a look died and will never report: for tests and the simulator, without
  // Start().
  void Abandon() {
    in_flight_ = 0;
    sweeping_ = false;
  }

  // For Resources::OnCommit.
  void RecordChanged(store::Kind kind, const std::string& name);
  // Instead of RecordChanged, when a job was created: it is not read again. As it was committed, at
  // its first revision.
  void Accepted(std::unique_ptr<model::TrainingJob> job);
  // For agents' datagrams and Launcher::OnExit.
  void Poke(const std::string& instance_id);

  // Does everything that is ready. Returns how long nothing will be, unless something happens.
  Millis Turn();
  bool idle() const { return in_flight_ == 0 && ready_.empty() && !sweeping_; }

 private:
  // So many waiting jobs are kept whole; the records of more are read again when their turn comes.
  static constexpr std::size_t kWaitingKeptWhole = 256;

  struct Job {
    std::unique_ptr<JobWork> work;  // null while a look is under way
    bool ready = false;             // stands in ready_
    bool stale_record = false;      // apply at the next look
    bool stale_instances = false;
    bool grant = false;
    bool waited = false;  // it was not granted at once
    bool told = false;    // its record says that it waits
    bool yields = false;  // its instances wait, and others need the room
    std::string pool;     // granted were the instances that this job left
    std::string near_miss;
    bool keys_known = false;
    std::optional<plan::PoolKeys> keys;  // nothing: it may not use pools
    WallTime tells_at;                   // when it should
    int wakes = 0;                       // commits heard of since the look began
    std::uint64_t timer = 0;             // sequence number of its only valid timer
  };
  struct Keeper {
    plan::PoolKeys keys;
    bool placed = false;  // it has, or had, instances
  };
  struct Timer {
    WallTime due;
    std::string job;
    std::uint64_t sequence = 0;
    bool operator>(const Timer& other) const { return due > other.due; }
  };

  Job& JobNamed(const std::string& name);
  void MakeReady(const std::string& name);
  void Hear(Inbox::Letters& letters);
  void HearChanged(const std::string& name, int count);
  void Absorb(std::unique_ptr<JobWork> work);
  void Settle(const std::string& name, Job& job, bool again);
  void Admit();
  bool AdmitNext(const std::string& name);
  void Grant(const std::string& name, Job& job);
  // Of the job at the head of the queue. False: they have to be read first.
  bool LearnKeys(const std::string& name, Job& job);
  // A running job that may leave a pool of this kind is being looked at.
  bool PoolMayCome(const plan::PoolKeys& keys) const;
  void GiveUpPools();
  void SettlePool(const std::string& name, const JobWork& work);
  void SettlePromise(const std::string& name, Job& job);
  void ForgetWaiting();
  void Arm(const std::string& name, Job& job, WallTime due);
  void FireTimers();
  void SweepRunning();
  void TellPositions();
  void TellWaiting();
  void Wait(Job& job, const model::TrainingJob& record, fleet::Capacity::Ticket ticket);
  void WaitForMarket(const std::string& name, Job& job);
  std::string MarketPlace(const std::string& name) const;
  void Dispatch();
  void Look(const std::string& name, Job& job);
  void CollectGarbage();
  void KeepSpent(bool busy);
  Millis UntilNext();
  void AdoptQueued(model::TrainingJob record, std::int64_t revision);
  void AdoptRunning(const std::string& name, const std::vector<model::InstanceRecord>& leases,
                    WallTime created);

  const Ports ports_;
  const ControllerSettings settings_;
  const fleet::Offer& offer_;
  Executor& executor_;
  TrainingWorker worker_;
  Inbox inbox_;

  // Confined to the loop.
  fleet::Capacity capacity_;
  fleet::PoolBoard pools_;                       // of jobs that have ended
  std::map<std::string, Keeper> keepers_;        // jobs that will leave theirs
  std::map<std::string, std::string> promised_;  // whose pool → who gets it
  std::set<std::string> yielding_;               // whose pools are being given up
  std::map<std::string, Job> jobs_;
  std::map<std::string, std::string, std::less<>> job_of_uid_;
  std::set<std::string> running_;  // jobs with instances
  // Jobs that wait for the spot market, by creation.
  std::set<std::pair<WallTime, std::string>> market_queue_;
  std::map<std::string, WallTime> market_waiting_;
  std::deque<std::string> ready_;
  std::vector<std::string> enqueued_;  // since the last Admit
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t next_timer_ = 1;
  std::deque<std::string> spent_;    // directories that may serve again
  std::deque<std::string> garbage_;  // … that are to be removed
  MonoTime garbage_since_;
  bool sweeping_ = false;  // a removal is under way
  int in_flight_ = 0;
  MonoTime last_sweep_;
  MonoTime last_positions_;
  MonoTime last_told_;
  bool to_tell_ = false;  // a job near the head of the queue has not said yet that it waits
  std::thread thread_;
};

}  // namespace sabia::control
