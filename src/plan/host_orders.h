// Which orders the hosts of a job need, given what the job as a whole is to do. Level-based:
// compares what every host should be told with what it was told last, so that repeating is
// harmless. Pure.
#pragma once

#include <optional>

#include "plan/training_snapshot.h"

namespace sabia::plan {

struct HostWish {
  model::StopReason stop = model::StopReason::kNone;  // for programs that still run
  std::optional<WallTime> kill_at;
  // After all programs ended, the first host uploads what all of them made. A single host does so
  // without orders.
  bool artifacts = false;
};

// With several hosts: stop all, then upload on the first, then dismiss each. Nothing when all were
// told.
std::optional<Action> DirectHosts(const TrainingSnapshot& seen, const TrainingRules& rules,
                                  const HostWish& wish);

// When hosts that were told to stop, and did not, are killed.
WallTime KillTime(const model::TrainingJob& job, const TrainingRules& rules);
std::optional<Action> KillOverdue(const TrainingSnapshot& seen, const TrainingRules& rules);

}  // namespace sabia::plan
