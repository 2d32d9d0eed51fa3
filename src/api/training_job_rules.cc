#include "api/training_job_rules.h"

#include <set>

#include "api/channel_rules.h"
#include "api/metric_regex.h"
#include "model/images.h"
#include "model/limits.h"
#include "model/program_path.h"
#include "model/training_request.h"
#include "wire/s3_uri.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::RefuseValidation;

const json::array& List(const json::object& object, std::string_view key) {
  static const json::array kEmpty;
  const json::array* found = FindArray(object, key);
  return found == nullptr ? kEmpty : *found;
}

void NoteMetrics(const json::object& request, std::vector<std::string>& notes) {
  for (const json::value& value :
       List(*FindObject(request, "AlgorithmSpecification"), "MetricDefinitions")) {
    const auto groups = CountRegexGroups(GetString(value.get_object(), "Regex"));
    if (!groups || *groups > 0) continue;
    notes.push_back(fmt::format("metric '{}': the regex has no group, so it never yields a value",
                                GetString(value.get_object(), "Name")));
  }
}

Quota InstanceQuota(std::int64_t wanted) {
  return {"Instances for a training job", "Instances", model::kInstancesPerJobMax, wanted};
}

AwsResult<void> CheckMetrics(const json::object& algorithm) {
  std::set<std::string> names;
  for (const json::value& value : List(algorithm, "MetricDefinitions")) {
    const json::object& definition = value.get_object();
    const std::string name = GetString(definition, "Name");
    if (!names.insert(name).second) {
      return RefuseValidation("Metric definition names must be unique, and '{}' is given twice",
                              name);
    }
    const auto groups = CountRegexGroups(GetString(definition, "Regex"));
    if (!groups) {
      return RefuseValidation("Regex '{}' of metric definition '{}' is not valid: {}",
                              GetString(definition, "Regex"), name, groups.error().message);
    }
  }
  return {};
}

AwsResult<void> CheckAlgorithm(const json::object& request) {
  const json::object* algorithm = FindObject(request, "AlgorithmSpecification");
  if (algorithm == nullptr) return RefuseNull("algorithmSpecification");
  if (GetString(*algorithm, "TrainingImage").empty()) {
    return RefuseNull("algorithmSpecification.trainingImage");
  }
  const auto image = model::ResolveTrainingImage(request);
  if (!image) return RefuseValidation("{}", image.error().message);
  return CheckMetrics(*algorithm);
}

AwsResult<int> CheckGroups(const json::object& resources) {
  const json::array& groups = List(resources, "InstanceGroups");
  if (resources.contains("InstanceType") || resources.contains("InstanceCount")) {
    return RefuseValidation(
        "InstanceGroups cannot be combined with InstanceType or InstanceCount in ResourceConfig");
  }
  std::set<std::string> names;
  int count = 0;
  for (const json::value& group : groups) {
    const std::string name = GetString(group.get_object(), "InstanceGroupName");
    const std::int64_t hosts = GetInt(group.get_object(), "InstanceCount");
    if (!names.insert(name).second) {
      return RefuseValidation("Instance group names must be unique, and '{}' is given twice", name);
    }
    if (hosts < 1)
      return RefuseValidation("InstanceCount of instance group '{}' must be at least 1", name);
    if (hosts > model::kInstancesPerJobMax) {
      return RefuseQuota(InstanceQuota(hosts));
    }
    count += static_cast<int>(hosts);
  }
  return count;
}

AwsResult<void> CheckResources(const json::object& request) {
  const json::object* resources = FindObject(request, "ResourceConfig");
  if (resources == nullptr) return RefuseNull("resourceConfig");
  std::int64_t count = 0;
  if (!List(*resources, "InstanceGroups").empty()) {
    ASSIGN_OR_RETURN(count, CheckGroups(*resources));
  } else {
    if (!FindString(*resources, "InstanceType")) return RefuseNull("resourceConfig.instanceType");
    if (!FindInt(*resources, "InstanceCount")) return RefuseNull("resourceConfig.instanceCount");
    count = GetInt(*resources, "InstanceCount");
    if (count < 1) return RefuseValidation("InstanceCount in ResourceConfig must be at least 1");
  }
  if (count > model::kInstancesPerJobMax) {
    return RefuseQuota(InstanceQuota(count));
  }
  const auto volume = FindInt(*resources, "VolumeSizeInGB");
  if (volume && *volume > model::kVolumeGiBMax) {
    return RefuseQuota(
        {"Size of EBS volume for a training job instance", "GBs", model::kVolumeGiBMax, *volume});
  }
  return {};
}

AwsResult<void> CheckLimits(const json::object& request) {
  const json::object* condition = FindObject(request, "StoppingCondition");
  const std::int64_t run = GetInt(*condition, "MaxRuntimeInSeconds");
  if (Seconds(run) > model::kMaxRuntimeMax) {
    return RefuseQuota(
        {"Longest run time for a training job", "Seconds", model::kMaxRuntimeMax.count(), run});
  }
  const auto wait = FindInt(*condition, "MaxWaitTimeInSeconds");
  if (!wait) return {};
  if (!GetBool(request, "EnableManagedSpotTraining")) {
    return RefuseValidation(
        "Invalid MaxWaitTimeInSeconds. It is only supported when EnableManagedSpotTraining is set "
        "to "
        "true");
  }
  if (*wait < run) {
    return RefuseValidation(
        "Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to "
        "MaxRuntimeInSeconds");
  }
  return {};
}

AwsResult<void> CheckKeepAlive(const json::object& request) {
  const json::object& resources = *FindObject(request, "ResourceConfig");
  if (GetInt(resources, "KeepAlivePeriodInSeconds") == 0) return {};
  if (GetBool(request, "EnableManagedSpotTraining")) {
    return RefuseValidation(
        "Invalid KeepAlivePeriodInSeconds. It is not supported when EnableManagedSpotTraining is "
        "set to true: spot instances are not retained in a warm pool");
  }
  if (FindArray(resources, "InstanceGroups") != nullptr) {
    return RefuseValidation(
        "Invalid KeepAlivePeriodInSeconds. It is not supported with InstanceGroups: heterogeneous "
        "clusters are not retained in a warm pool");
  }
  return {};
}

AwsResult<void> CheckLocalPath(const json::object& request, std::string_view structure) {
  const json::object* config = FindObject(request, structure);
  const auto path = config == nullptr ? std::nullopt : FindString(*config, "LocalPath");
  if (!path) return {};
  const Status good = model::CheckProgramPath(model::NormalProgramPath(*path));
  if (good) return {};
  return RefuseValidation("LocalPath in {} cannot be used: {}", structure, good.error().message);
}

AwsResult<void> CheckUri(const json::object& request, std::string_view structure,
                         std::string_view member) {
  const json::object* config = FindObject(request, structure);
  const auto uri = config == nullptr ? std::nullopt : FindString(*config, member);
  if (!uri) return {};
  const auto parsed = wire::ParseS3Uri(*uri);
  if (!parsed) {
    return RefuseValidation("{} '{}' in {} is not an S3 URI: {}", member, *uri, structure,
                            parsed.error().message);
  }
  return {};
}

}  // namespace

AwsResult<void> CheckTags(const json::object& request) {
  std::set<std::string> keys;
  for (const json::value& tag : List(request, "Tags")) {
    const std::string key = GetString(tag.get_object(), "Key");
    if (!keys.insert(key).second) {
      return RefuseValidation("Tag keys must be unique, and '{}' is given twice", key);
    }
    if (key.starts_with("aws:")) {
      return RefuseValidation("Tag key '{}' is not allowed: the prefix aws: is reserved", key);
    }
  }
  return {};
}

tl::unexpected<wire::AwsError> RefuseNull(std::string_view path) {
  return RefuseValidation(
      "1 validation error detected: Value null at '{}' failed to satisfy constraint: Member must "
      "not be "
      "null",
      path);
}

tl::unexpected<wire::AwsError> RefuseQuota(const Quota& quota) {
  return wire::Refuse("ResourceLimitExceeded", 400,
                      "The request delta of {} {} for '{}' is greater than the account-level "
                      "service-limit of {} {}.",
                      quota.wanted, quota.unit, quota.name, quota.limit, quota.unit);
}

AwsResult<void> CheckRequest(const json::object& request) {
  RETURN_IF_ERROR(CheckAlgorithm(request));
  RETURN_IF_ERROR(CheckResources(request));
  RETURN_IF_ERROR(CheckLimits(request));
  RETURN_IF_ERROR(CheckKeepAlive(request));
  RETURN_IF_ERROR(CheckChannels(request));
  RETURN_IF_ERROR(CheckLocalPath(request, "CheckpointConfig"));
  RETURN_IF_ERROR(CheckLocalPath(request, "DebugHookConfig"));
  RETURN_IF_ERROR(CheckUri(request, "OutputDataConfig", "S3OutputPath"));
  RETURN_IF_ERROR(CheckUri(request, "CheckpointConfig", "S3Uri"));
  return CheckTags(request);
}

AwsResult<void> CheckInstanceTypes(const model::InstanceCatalog& catalog,
                                   const json::object& request) {
  const json::object& resources = *FindObject(request, "ResourceConfig");
  std::vector<std::string> types;
  for (const json::value& group : List(resources, "InstanceGroups")) {
    types.push_back(GetString(group.get_object(), "InstanceType"));
  }
  if (types.empty()) types.push_back(GetString(resources, "InstanceType"));
  for (const std::string& type : types) {
    if (catalog.Find(type) != nullptr) continue;
    return RefuseValidation(
        "The requested resource training-job/{} is not available in this region", type);
  }
  return {};
}

std::vector<std::string> NotesOnRequest(const json::object& request) {
  std::vector<std::string> notes = model::NotesOnTrainingRequest(request);
  NoteMetrics(request, notes);
  return notes;
}

}  // namespace sabia::api
