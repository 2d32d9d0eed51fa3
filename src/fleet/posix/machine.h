// How large the machine is that we run on.
#pragma once

#include "fleet/demand.h"

namespace sabia::fleet {

// CPUs that this process may use and memory of the machine, or of the control group's limit where
// that is less.
MachineSize ThisMachine();

}  // namespace sabia::fleet
