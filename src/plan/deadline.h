// How a job with a deadline stands, and what its policy (spot/policy.h) would have it do.
//
// Work is measured in time that the program runs. What the job's checkpoints hold counts as done
// whatever happens; what it has done since counts as long as it keeps its instances. What a start
// takes, what leaving takes, and what a reclaim destroys are measured from the job itself; before
// there is anything to measure, they are assumed.
//
// The deadline is met if a placement on demand finds room on this machine at once, and if the
// program ends within the work that the policy plans for: MaxRuntimeInSeconds, or kWorkError more
// than the tag sabia:expected-runtime says. A program that needs more runs on demand to its end.
//
// Pure; a DeadlineAdvisor is not thread-safe. It holds nothing that its makers do not know: one
// made anew after a restart goes on as before.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/spot_view.h"
#include "plan/training_snapshot.h"
#include "spot/gang.h"
#include "spot/policy.h"

namespace sabia::plan {

inline constexpr double kWorkError = 0.5;

// Where the job stands. Durations of running time.
struct Standing {
  Millis saved{0};                 // in checkpoints
  Millis unsaved{0};               // by the running program, since the last one
  Millis start{0};                 // what a start takes: from the lease to the program
  Millis stop{0};                  // what leaving takes, at most
  Millis longest_gap{0};           // between two checkpoints, as far as seen
  Millis start_left{0};            // of the running placement
  std::optional<Millis> in_place;  // since the current attempt was launched
};
Standing StandingOf(const model::TrainingJob& job, const std::vector<InstanceView>& hosts,
                    const TrainingRules& rules, WallTime now);

struct MarketNow {
  std::string zone;
  std::shared_ptr<const spot::Market> gang;  // of that zone
  bool can_launch = false;
  bool observed = false;  // it decides; otherwise its past is the job's own attempts
  Millis history{0};
  Money spot_per_hour, on_demand_per_hour;  // of all instances
};

struct DeadlineQuestion {
  const model::TrainingJob& job;
  const std::vector<InstanceView>& hosts;
  const TrainingRules& rules;
  const MarketNow& market;
  WallTime now;
};

// How often the policy of a job is asked, at least.
Millis LookOf(const model::TrainingJob& job);

class DeadlineAdvisor {
 public:
  DeadlineAdvisor();
  ~DeadlineAdvisor();
  DeadlineAdvisor(DeadlineAdvisor&&) noexcept;
  DeadlineAdvisor& operator=(DeadlineAdvisor&&) noexcept;

  // REQUIRES: the job has a deadline and MaxWaitTimeInSeconds.
  SpotAdvice Advise(const DeadlineQuestion& question);

 private:
  spot::JobTerms TermsOf(const DeadlineQuestion& question, const Standing& standing) const;
  void Renew(const DeadlineQuestion& question, const spot::JobTerms& needed);
  spot::Placement Ask(const spot::Situation& now, std::string& why);

  std::string zone_;
  spot::JobTerms terms_;  // that the policy was made with
  std::unique_ptr<spot::Policy> policy_;
  std::optional<spot::Placement> last_;
  std::string last_why_;
};

}  // namespace sabia::plan
