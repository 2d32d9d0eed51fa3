#include "api/training_job_fields.h"

#include <array>
#include <string>

namespace sabia::api {
namespace {

constexpr Treatment kHonoured = Treatment::kHonoured;
constexpr Treatment kImmaterial = Treatment::kImmaterial;
constexpr Treatment kRefused = Treatment::kRefused;
constexpr Treatment kRefusedIfSet = Treatment::kRefusedIfSet;

constexpr std::string_view kRulesRefused =
    "Debugger and Profiler rule jobs are not implemented; remove the rules (SDK: rules=[], "
    "disable_profiler=True)";

// In the order of the service model.
constexpr std::array kFields = {
    FieldRule{"TrainingJobName", kHonoured, "unique within account and region"},
    FieldRule{"HyperParameters", kHonoured, "hyperparameters.json, byte for byte"},
    FieldRule{
        "AlgorithmSpecification.TrainingImage", kHonoured,
        "looked up in the image table; an unknown image is refused with the list of known ones"},
    FieldRule{
        "AlgorithmSpecification.AlgorithmName", kRefused,
        "algorithm resources and marketplace algorithms are not implemented; give TrainingImage"},
    FieldRule{"AlgorithmSpecification.TrainingInputMode", kHonoured, "default of the channels"},
    FieldRule{"AlgorithmSpecification.MetricDefinitions[].Name", kHonoured, "metric name"},
    FieldRule{"AlgorithmSpecification.MetricDefinitions[].Regex", kHonoured,
              "PCRE2, searched in each log line; one that does not compile is refused"},
    FieldRule{"AlgorithmSpecification.EnableSageMakerMetricsTimeSeries", kImmaterial,
              "kept and echoed: every metric is kept as a time series and answers CloudWatch "
              "queries either way"},
    FieldRule{"AlgorithmSpecification.ContainerEntrypoint[]", kHonoured,
              "replaces the image's entrypoint"},
    FieldRule{"AlgorithmSpecification.ContainerArguments[]", kHonoured,
              "replaces the argument \"train\""},
    FieldRule{"AlgorithmSpecification.TrainingImageConfig", kRefused,
              "images are not pulled from private registries; remove TrainingImageConfig"},
    FieldRule{"RoleArn", kHonoured, "the identity of the job's temporary credentials"},
    FieldRule{"InputDataConfig[].ChannelName", kHonoured,
              "directory below /opt/ml/input/data; unique in a job"},
    FieldRule{"InputDataConfig[].DataSource.S3DataSource.S3DataType", kHonoured,
              "S3Prefix, ManifestFile, or in Pipe mode AugmentedManifestFile"},
    FieldRule{"InputDataConfig[].DataSource.S3DataSource.S3Uri", kHonoured,
              "must match at least one object when the job is created"},
    FieldRule{"InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType", kHonoured,
              "FullyReplicated or ShardedByS3Key"},
    FieldRule{"InputDataConfig[].DataSource.S3DataSource.AttributeNames[]", kHonoured,
              "what of each line of an augmented manifest is streamed, in this order"},
    FieldRule{"InputDataConfig[].DataSource.S3DataSource.InstanceGroupNames[]", kHonoured,
              "only hosts of these groups get the channel"},
    FieldRule{"InputDataConfig[].DataSource.S3DataSource.ModelAccessConfig", kRefused,
              "gated models are not implemented; upload the model to a bucket"},
    FieldRule{"InputDataConfig[].DataSource.S3DataSource.HubAccessConfig", kRefused,
              "hubs are not implemented; upload the content to a bucket"},
    FieldRule{"InputDataConfig[].DataSource.FileSystemDataSource", kRefused,
              "EFS and FSx file systems cannot be mounted here; use S3DataSource"},
    FieldRule{"InputDataConfig[].DataSource.DatasetSource", kRefused,
              "hub datasets are not implemented; use S3DataSource"},
    FieldRule{"InputDataConfig[].ContentType", kHonoured, "inputdataconfig.json"},
    FieldRule{"InputDataConfig[].CompressionType", kHonoured,
              "None; Gzip only in Pipe mode, as on AWS: objects are decompressed on the way"},
    FieldRule{
        "InputDataConfig[].RecordWrapperType", kHonoured,
        "None; RecordIO only in Pipe mode, as on AWS: each object or attribute is one record"},
    FieldRule{"InputDataConfig[].InputMode", kHonoured,
              "File, FastFile or Pipe; overrides TrainingInputMode"},
    FieldRule{"InputDataConfig[].ShuffleConfig.Seed", kHonoured,
              "order of objects or lines, another one each epoch; outside Pipe mode, which host "
              "gets which object"},
    FieldRule{
        "OutputDataConfig.KmsKeyId", kHonoured,
        "model and output data are uploaded with SSE-KMS under this key (id, ARN or alias); in "
        "the embedded store it must be one of `sabia keys`"},
    FieldRule{"OutputDataConfig.S3OutputPath", kHonoured,
              "its bucket must exist when the job is created"},
    FieldRule{"OutputDataConfig.CompressionType", kHonoured,
              "GZIP: model.tar.gz; NONE: single files"},
    FieldRule{"ResourceConfig.InstanceType", kHonoured, "a slice of the machine of that size"},
    FieldRule{"ResourceConfig.InstanceCount", kHonoured, "agents algo-1 … algo-N"},
    FieldRule{"ResourceConfig.VolumeSizeInGB", kHonoured,
              "what File channels of buckets outside may take, checked before they are downloaded; "
              "embedded data takes no room, and scratch space is the free space of the home's file "
              "system"},
    FieldRule{
        "ResourceConfig.VolumeKmsKeyId", kImmaterial,
        "kept and echoed, with a note on the job: volumes are directories of this machine, and "
        "encrypted when its disk is"},
    FieldRule{"ResourceConfig.KeepAlivePeriodInSeconds", kHonoured,
              "the instances wait so long for another job (warm-pools.md); not with spot, nor with "
              "InstanceGroups"},
    FieldRule{"ResourceConfig.InstanceGroups[].InstanceType", kHonoured, "per group"},
    FieldRule{"ResourceConfig.InstanceGroups[].InstanceCount", kHonoured, "per group"},
    FieldRule{"ResourceConfig.InstanceGroups[].InstanceGroupName", kHonoured,
              "resourceconfig.json"},
    FieldRule{"ResourceConfig.TrainingPlanArn", kRefused, "training plans are not implemented"},
    FieldRule{"ResourceConfig.InstancePlacementConfig", kRefused,
              "UltraServer placement is not implemented"},
    FieldRule{"VpcConfig.SecurityGroupIds[]", kImmaterial,
              "kept and echoed: instances are processes of this machine; there is no VPC to join"},
    FieldRule{"VpcConfig.Subnets[]", kImmaterial,
              "kept and echoed: instances are processes of this machine; there is no VPC to join"},
    FieldRule{"StoppingCondition.MaxRuntimeInSeconds", kHonoured,
              "default 86400; ends Stopped, MaxRuntimeExceeded"},
    FieldRule{
        "StoppingCondition.MaxWaitTimeInSeconds", kHonoured,
        "spot only, at least MaxRuntimeInSeconds; ends Stopped, MaxWaitTimeExceeded; with the tag "
        "`sabia:deadline-policy` a deadline that is met (`spot.md`)"},
    FieldRule{"StoppingCondition.MaxPendingTimeInSeconds", kHonoured,
              "limit on waiting for capacity"},
    FieldRule{"Tags[].Key", kHonoured, "as AddTags; keys that begin with aws: are refused"},
    FieldRule{"Tags[].Value", kHonoured, "as AddTags"},
    FieldRule{"EnableNetworkIsolation", kHonoured,
              "the program gets no network and no credentials"},
    FieldRule{"EnableInterContainerTrafficEncryption", kImmaterial,
              "kept and echoed: hosts of a job talk over the loopback of one machine; no traffic "
              "leaves it"},
    FieldRule{
        "EnableManagedSpotTraining", kHonoured,
        "the job's instances can be reclaimed, by command or by a market (`spot.md`); billed at "
        "spot rates"},
    FieldRule{"CheckpointConfig.S3Uri", kHonoured,
              "restored before the start, synced while the program runs"},
    FieldRule{"CheckpointConfig.LocalPath", kHonoured, "default /opt/ml/checkpoints"},
    FieldRule{"DebugHookConfig.LocalPath", kHonoured, "debughookconfig.json"},
    FieldRule{"DebugHookConfig.S3OutputPath", kImmaterial,
              "debughookconfig.json and echoed: SDK v2 sends it with every job; nothing is written "
              "there unless a hook does"},
    FieldRule{"DebugHookConfig.HookParameters", kHonoured, "debughookconfig.json"},
    FieldRule{"DebugHookConfig.CollectionConfigurations[].CollectionName", kHonoured,
              "debughookconfig.json"},
    FieldRule{"DebugHookConfig.CollectionConfigurations[].CollectionParameters", kHonoured,
              "debughookconfig.json"},
    FieldRule{"DebugRuleConfigurations", kRefusedIfSet, kRulesRefused},
    FieldRule{"TensorBoardOutputConfig", kRefused,
              "the TensorBoard directory is not synced; write event files to /opt/ml/checkpoints "
              "or /opt/ml/output/data"},
    FieldRule{"ExperimentConfig", kRefused,
              "experiments are not implemented; remove ExperimentConfig"},
    FieldRule{"ProfilerConfig.S3OutputPath", kImmaterial,
              "profilerconfig.json and echoed: SDK v2 sends it with every job; no profiler output "
              "is written yet"},
    FieldRule{"ProfilerConfig.ProfilingIntervalInMilliseconds", kImmaterial,
              "profilerconfig.json and echoed"},
    FieldRule{"ProfilerConfig.ProfilingParameters", kImmaterial, "profilerconfig.json and echoed"},
    FieldRule{"ProfilerConfig.DisableProfiler", kImmaterial,
              "profilerconfig.json and echoed; ProfilingStatus follows it"},
    FieldRule{"ProfilerRuleConfigurations", kRefusedIfSet, kRulesRefused},
    FieldRule{"Environment", kHonoured, "environment of the program"},
    FieldRule{"RetryStrategy.MaximumRetryAttempts", kHonoured, "retries after an internal error"},
    FieldRule{"RemoteDebugConfig.EnableRemoteDebug", kRefusedIfSet,
              "sessions through Systems Manager are not implemented; the program runs on this "
              "machine, attach to it"},
    FieldRule{"InfraCheckConfig.EnableInfraCheck", kRefusedIfSet,
              "hardware health checks are not implemented"},
    FieldRule{"SessionChainingConfig.EnableSessionTagChaining", kRefusedIfSet,
              "session tags are not implemented; there is no policy that could read them"},
    FieldRule{"ServerlessJobConfig", kRefused, "serverless model customisation is not implemented"},
    FieldRule{"MlflowConfig", kRefused, "MLflow tracking servers are not implemented"},
    FieldRule{"ModelPackageConfig", kRefused, "the model registry is not implemented"},
};

bool SaysNothing(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return true;
    case json::kind::bool_:
      return !value.get_bool();
    case json::kind::int64:
      return value.get_int64() == 0;
    case json::kind::uint64:
      return value.get_uint64() == 0;
    case json::kind::double_:
      return value.get_double() == 0;
    case json::kind::string:
      return value.get_string().empty();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::object:
      return value.get_object().empty();
  }
  return false;
}

std::string Join(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

wire::AwsResult<void> RefuseIn(const FieldRule& rule, std::string_view rest, const json::object& in,
                               const std::string& shown);

// Follows the rest of a path from a value; `shown` is the path so far with list indices, for the
// message.
wire::AwsResult<void> RefuseAt(const FieldRule& rule, std::string_view rest, const json::value& at,
                               const std::string& shown) {
  if (rest.empty()) {
    if (rule.treatment == Treatment::kRefusedIfSet ? SaysNothing(at) : at.is_null()) return {};
    return wire::RefuseValidation("{} is not supported: {}", shown, rule.note);
  }
  const json::object* object = at.if_object();
  return object == nullptr ? wire::AwsResult<void>() : RefuseIn(rule, rest, *object, shown);
}

wire::AwsResult<void> RefuseIn(const FieldRule& rule, std::string_view rest, const json::object& in,
                               const std::string& shown) {
  const std::size_t dot = rest.find('.');
  std::string_view step = rest.substr(0, dot);
  const std::string_view behind = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
  const bool is_list = step.ends_with("[]");
  if (is_list) step.remove_suffix(2);
  const json::value* child = in.if_contains(step);
  if (child == nullptr) return {};
  const std::string path = Join(shown, step);
  if (!is_list) return RefuseAt(rule, behind, *child, path);
  const json::array* elements = child->if_array();
  if (elements == nullptr) return {};
  for (std::size_t i = 0; i < elements->size(); ++i) {
    RETURN_IF_ERROR(RefuseAt(rule, behind, (*elements)[i], fmt::format("{}[{}]", path, i + 1)));
  }
  return {};
}

}  // namespace

std::string_view Name(Treatment treatment) {
  switch (treatment) {
    case Treatment::kHonoured:
      return "honoured";
    case Treatment::kImmaterial:
      return "accepted";
    case Treatment::kRefused:
      return "refused";
    case Treatment::kRefusedIfSet:
      return "refused if set";
  }
  return "";
}

std::span<const FieldRule> CreateTrainingJobFields() { return kFields; }

wire::AwsResult<void> RefuseUnsupportedFields(std::span<const FieldRule> rules,
                                              const json::object& request) {
  for (const FieldRule& rule : rules) {
    if (rule.treatment == Treatment::kHonoured || rule.treatment == Treatment::kImmaterial)
      continue;
    RETURN_IF_ERROR(RefuseIn(rule, rule.path, request, ""));
  }
  return {};
}

}  // namespace sabia::api
