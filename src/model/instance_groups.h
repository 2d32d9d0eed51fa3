// Which instances a training job asks for.
//
// Pure; any thread. Source: ResourceConfig of CreateTrainingJob.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace sabia::model {

// The only group of a job that names no groups.
inline constexpr char kHomogeneousCluster[] = "homogeneousCluster";

struct InstanceGroup {
  std::string name;
  std::string instance_type;
  int count = 0;
};

// In the order of the request, which is that of the instances' numbers; nothing when the request
// has no ResourceConfig.
std::vector<InstanceGroup> InstanceGroupsOf(const json::object& request);

}  // namespace sabia::model
