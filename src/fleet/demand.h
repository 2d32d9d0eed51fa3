// What a job asks of the machine: one slice per instance, and what the user must know about them.
//
// A type larger than the machine runs with what is there, and the job's notes say so; or it is
// refused (a setting). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/instance_catalog.h"
#include "model/training_job.h"
#include "plan/training_snapshot.h"

namespace sabia::fleet {

struct MachineSize {
  double vcpus = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  int gpus = 0;
};

struct CapacityOptions {
  // Leases may add up to this many times the machine: most jobs use less than their type has. 0
  // offers nothing: jobs are accepted and wait, as before maintenance. At most 100.
  double overcommit = 4;
  // Whether jobs whose type or number of instances is larger than the machine are refused.
  bool refuse_larger = false;
};

// What this machine has to give. A value.
struct Offer {
  MachineSize machine;
  CapacityOptions options;
  model::InstanceCatalog catalog;
};

struct Demand {
  std::vector<plan::Slice> slices;
  std::vector<std::string> notes;
  double vcpus = 0;  // over all slices
  std::int64_t memory_bytes = 0;
  // All instances together are more than the machine ever has: they run when nothing else does.
  bool alone = false;
  std::string never;  // why the job cannot run here at all; "" when it can
};

Demand DemandOf(const model::TrainingJob& job, const Offer& offer);

// "2 vCPU and 8.0 GiB"
std::string SizeText(double vcpus, std::int64_t memory_bytes);

}  // namespace sabia::fleet
