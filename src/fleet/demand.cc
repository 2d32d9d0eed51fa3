#include "fleet/demand.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/instance_groups.h"

namespace sabia::fleet {
namespace {

// The slice of one instance; what the machine lacks becomes a note.
plan::Slice SliceOf(const model::InstanceGroup& group, const model::InstanceType& type,
                    const MachineSize& machine, std::vector<std::string>& notes) {
  plan::Slice slice{group.name, group.instance_type, static_cast<double>(type.vcpus),
                    type.memory_bytes};
  if (slice.vcpus > machine.vcpus || slice.memory_bytes > machine.memory_bytes) {
    notes.push_back(fmt::format("{} has {}, this machine {}: the job runs with what is there",
                                type.name, SizeText(slice.vcpus, slice.memory_bytes),
                                SizeText(machine.vcpus, machine.memory_bytes)));
    slice.vcpus = std::min(slice.vcpus, machine.vcpus);
    slice.memory_bytes = std::min(slice.memory_bytes, machine.memory_bytes);
  }
  if (type.gpus > machine.gpus) {
    notes.push_back(fmt::format("{} has {} GPU{}, this machine {}", type.name, type.gpus,
                                type.gpus == 1 ? "" : "s",
                                machine.gpus == 0 ? "none" : fmt::to_string(machine.gpus)));
  }
  return slice;
}

}  // namespace

std::string SizeText(double vcpus, std::int64_t memory_bytes) {
  return fmt::format("{:.4g} vCPU and {:.1f} GiB", vcpus,
                     static_cast<double>(memory_bytes) / (1 << 30));
}

Demand DemandOf(const model::TrainingJob& job, const Offer& offer) {
  const MachineSize& machine = offer.machine;
  const CapacityOptions& options = offer.options;
  Demand demand;
  for (const model::InstanceGroup& group : model::InstanceGroupsOf(job.request)) {
    const model::InstanceType* type = offer.catalog.Find(group.instance_type);
    if (type == nullptr) {
      demand.never =
          fmt::format("'{}' is no instance type that is known here", group.instance_type);
      return demand;
    }
    if (group.count <= 0) continue;
    const plan::Slice slice = SliceOf(group, *type, machine, demand.notes);
    for (int i = 0; i < group.count; ++i) demand.slices.push_back(slice);
    demand.vcpus += slice.vcpus * static_cast<double>(group.count);
    demand.memory_bytes += slice.memory_bytes * group.count;
  }
  if (demand.slices.empty()) demand.never = "the job asks for no instance";
  const double vcpus = machine.vcpus * options.overcommit;
  const auto memory =
      static_cast<std::int64_t>(static_cast<double>(machine.memory_bytes) * options.overcommit);
  if (vcpus <= 0) return demand;  // nothing is offered, so nothing is compared
  demand.alone = demand.vcpus > vcpus || demand.memory_bytes > memory;
  if (demand.alone) {
    demand.notes.push_back(
        fmt::format("{} instances need {}, this machine offers {}: they share it, and run alone",
                    demand.slices.size(), SizeText(demand.vcpus, demand.memory_bytes),
                    SizeText(vcpus, memory)));
  }
  if (options.refuse_larger && !demand.notes.empty()) demand.never = demand.notes.front();
  return demand;
}

}  // namespace sabia::fleet
