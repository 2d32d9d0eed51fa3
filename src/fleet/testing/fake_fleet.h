// A machine with agents, in memory: plays Launcher and InstanceFiles on a clock that the test
// moves.
//
// An agent takes the phases of its program one after the other, each for as long as the program
// says, obeys orders as a real one does, and outlives the daemon: DaemonDied() forgets who started
// whom. Stricter than the real fleet: an agent that is started twice, or a host that runs in two
// attempts at once, is a violation.
//
// Threading: thread-safe. Time: moves at Tick() only. Cost: a Tick costs O(log n) for each agent
// that has something to do, and nothing for the others.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "env/clock.h"
#include "fleet/instance_files.h"
#include "fleet/launcher.h"

namespace sabia::fleet::testing {

struct FakeProgram {
  Millis prepares{10};
  Millis downloads{10};
  Millis trains{100};
  Millis stops{10};  // from SIGTERM to the exit
  Millis uploads{10};
  // Work survives an attempt in steps of this length; 0: every attempt begins at the beginning.
  Millis checkpoint_every{0};
  int exit_code = 0;
  // Values of the metric "loss" that it emits when its training begins; the last is the final one.
  std::vector<double> losses = {0.5};
  std::int64_t restored_files = 0;
  bool never_comes_up = false;  // ends at once, without a report
  bool ignores_orders = false;
};

class FakeFleet final : public Launcher, public InstanceFiles {
 public:
  explicit FakeFleet(env::Clock& clock) : clock_(clock) {}

  // What the instances of a job run; by default a FakeProgram{}.
  void SetProgram(const std::string& job, FakeProgram program);
  // What instances of jobs run that SetProgram was not told of: asked once per job.
  void ChooseProgram(std::function<FakeProgram(const model::InstanceSpec&)> choose);
  // Lets every agent do what is due now, and tells the listener of each that reported or ended.
  void Tick();
  // When the next agent has something to do; nothing when all wait for orders or there are none.
  std::optional<WallTime> NextDue();
  void OnPoke(std::function<void(const std::string&)> listener);
  void Crash(const std::string& id);  // kill -9 of an agent
  void DaemonDied();

  // What the job's program has in its checkpoint, and whether one of its runs came to its end.
  struct Progress {
    Millis saved{0};
    bool finished = false;
  };
  Progress ProgressOf(const std::string& job);
  // Drops what is remembered of a job whose agents are gone.
  void Forget(const std::string& job);

  std::vector<std::string> Running();
  std::vector<std::string> violations();
  std::size_t starts(const std::string& id);
  model::Orders OrdersOf(const std::string& id);

  // Launcher.
  Status Start(const AgentName& agent) override;
  bool Runs(const std::string& id) override;
  Status Kill(const AgentName& agent, int pid) override;
  void OnExit(std::function<void(const std::string&)> listener) override;

  // InstanceFiles.
  env::Path Directory(const std::string& id) const override { return env::Path("/fake") / id; }
  Status Prepare(const std::string& id, const Preparation& preparation) override;
  Status Give(const std::string& id, const model::Orders& orders) override;
  Result<Observation> Observe(const std::string& id, bool alive) override;
  Result<std::string> ReadMetrics(const std::string& id, std::uint64_t from,
                                  std::size_t limit) override;
  Status Remove(const std::string& id) override;
  Result<std::vector<std::string>> List() override;

 private:
  struct Agent {
    bool prepared = false;
    model::InstanceSpec spec;
    model::Orders orders;
    std::optional<model::Report> report;
    std::string metrics;
    bool alive = false;
    WallTime due;
    std::optional<WallTime> wakes;  // its place in due_
  };
  // Whether its report changed.
  bool Act(const std::string& id, Agent& agent);
  // Both return whether the agent did something.
  bool Obey(const std::string& id, Agent& agent);
  bool Proceed(const std::string& id, Agent& agent);
  void TellFinalMetrics(Agent& agent);
  void Enter(Agent& agent, model::AgentPhase phase, Millis takes);
  void Finish(const std::string& id, Agent& agent);
  void Exit(const std::string& id, Agent& agent, int code);
  const FakeProgram& ProgramOf(const Agent& agent);
  // It has something to do now, or at `time`.
  void WakeAt(const std::string& id, Agent& agent, std::optional<WallTime> time);
  void Save(Agent& agent);  // what it has done goes to the checkpoint
  void Notify(const std::set<std::string>& told, const std::set<std::string>& ended);

  env::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Agent> agents_;
  std::map<std::string, FakeProgram> programs_;
  std::function<FakeProgram(const model::InstanceSpec&)> choose_;
  std::map<std::string, Progress> progress_;        // by job
  std::set<std::pair<WallTime, std::string>> due_;  // live agents by when they act next
  std::set<std::string> own_;                       // started by the daemon that lives now
  std::map<std::string, std::size_t> starts_;
  std::map<std::pair<std::string, std::string>, std::string> live_hosts_;  // job and host → agent
  std::vector<std::string> violations_;
  std::function<void(const std::string&)> on_poke_;
  std::function<void(const std::string&)> on_exit_;
};

}  // namespace sabia::fleet::testing
