#include "model/instance_groups.h"

namespace sabia::model {

std::vector<InstanceGroup> InstanceGroupsOf(const json::object& request) {
  std::vector<InstanceGroup> out;
  const json::object* resources = FindObject(request, "ResourceConfig");
  if (resources == nullptr) return out;
  const json::array* groups = FindArray(*resources, "InstanceGroups");
  if (groups == nullptr || groups->empty()) {
    out.push_back({kHomogeneousCluster, GetString(*resources, "InstanceType"),
                   static_cast<int>(GetInt(*resources, "InstanceCount", 1))});
    return out;
  }
  for (const json::value& value : *groups) {
    if (!value.is_object()) continue;
    const json::object& group = value.get_object();
    out.push_back({GetString(group, "InstanceGroupName"), GetString(group, "InstanceType"),
                   static_cast<int>(GetInt(group, "InstanceCount"))});
  }
  return out;
}

}  // namespace sabia::model
