#include "control/spec_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "model/builtin_metrics.h"
#include "model/images.h"
#include "model/job_outputs.h"
#include "model/program_path.h"
#include "plan/training_plan.h"
#include "wire/s3_uri.h"

namespace sabia::control {
namespace {

std::map<std::string, std::string> TextMap(const json::object& request, std::string_view member) {
  std::map<std::string, std::string> out;
  const json::object* map = FindObject(request, member);
  if (map == nullptr) return out;
  for (const auto& [key, value] : *map) {
    if (value.is_string()) out.emplace(key, View(value.get_string()));
  }
  return out;
}

std::vector<std::string> Texts(const json::object& object, std::string_view member) {
  std::vector<std::string> out;
  const json::array* array = FindArray(object, member);
  if (array == nullptr) return out;
  for (const json::value& value : *array) {
    if (value.is_string()) out.emplace_back(View(value.get_string()));
  }
  return out;
}

std::string MemberText(const json::object& request, std::string_view object,
                       std::string_view member) {
  const json::object* found = FindObject(request, object);
  return found == nullptr ? "" : GetString(*found, member);
}

void FillPlace(const SpecInput& input, model::InstanceSpec& spec) {
  spec.attempt = input.self.attempt;
  spec.host = input.self.Host();
  spec.instance_type = input.self.instance_type;
  spec.group = input.self.group;
  spec.vcpus = input.self.vcpus;
  spec.memory_bytes = input.self.memory_bytes;
  for (const model::InstanceRecord& host : input.hosts) {
    spec.hosts.push_back(host.Host());
    auto group =
        std::find_if(spec.groups.begin(), spec.groups.end(),
                     [&](const model::GroupSpec& known) { return known.name == host.group; });
    if (group == spec.groups.end()) {
      group = spec.groups.insert(spec.groups.end(), {host.group, host.instance_type, {}});
    }
    group->hosts.push_back(host.Host());
  }
  std::sort(spec.hosts.begin(), spec.hosts.end());  // as text: algo-10 before algo-2
  spec.upload_on_exit = input.hosts.size() == 1;
}

void AddMetrics(const json::object& algorithm, model::InstanceSpec& spec) {
  if (const json::array* given = FindArray(algorithm, "MetricDefinitions")) {
    for (const json::value& value : *given) {
      if (!value.is_object()) continue;
      spec.metrics.push_back(
          {GetString(value.get_object(), "Name"), GetString(value.get_object(), "Regex")});
    }
  }
  if (spec.image != model::ImageKind::kXgboost) return;
  const std::size_t given = spec.metrics.size();
  for (model::MetricDefinition& implied : model::XgboostMetricDefinitions()) {
    const auto end = spec.metrics.begin() + static_cast<std::ptrdiff_t>(given);
    const bool named = std::any_of(spec.metrics.begin(), end,
                                   [&](const auto& metric) { return metric.name == implied.name; });
    if (!named) spec.metrics.push_back(std::move(implied));
  }
}

Status ReadKeep(model::InstanceSpec& spec) {
  const auto found = spec.environment.find(std::string(kKeepVariable));
  if (found == spec.environment.end()) return {};
  const std::string& text = found->second;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), spec.checkpoints_keep);
  if (error == std::errc() && end == text.data() + text.size() && spec.checkpoints_keep >= 1)
    return {};
  return Fail(ErrorCode::kInvalidArgument, "Environment {} is '{}'; it must be a number from 1 on",
              kKeepVariable, text);
}

Status FillProgram(const json::object& request, model::InstanceSpec& spec) {
  ASSIGN_OR_RETURN(spec.image, model::ResolveTrainingImage(request));
  static const json::object kNone;
  const json::object* algorithm = FindObject(request, "AlgorithmSpecification");
  if (algorithm == nullptr) algorithm = &kNone;
  spec.image_uri = GetString(*algorithm, "TrainingImage");
  spec.entrypoint = Texts(*algorithm, "ContainerEntrypoint");
  spec.arguments = Texts(*algorithm, "ContainerArguments");
  spec.hyperparameters = TextMap(request, "HyperParameters");
  spec.environment = TextMap(request, "Environment");
  spec.network_isolation = GetBool(request, "EnableNetworkIsolation");
  if (const auto opted = spec.environment.find(std::string(kSignalAllVariable));
      opted != spec.environment.end()) {
    spec.signal_all_processes = opted->second == "1" || opted->second == "true";
  }
  RETURN_IF_ERROR(ReadKeep(spec));
  AddMetrics(*algorithm, spec);
  return {};
}

// The agent writes the files that follow from the specification itself; these come from the request
// as it was.
void AddConfigFiles(const json::object& request, model::InstanceSpec& spec) {
  struct ConfigFile {
    std::string_view member;
    std::string_view file;
  };
  static constexpr std::array kFiles = {
      ConfigFile{"DebugHookConfig", "debughookconfig.json"},
      ConfigFile{"ProfilerConfig", "profilerconfig.json"},
      ConfigFile{"TensorBoardOutputConfig", "tensorboardoutputconfig.json"},
  };
  for (const auto& [member, file] : kFiles) {
    const json::object* config = FindObject(request, member);
    if (config == nullptr) continue;
    json::object content = *config;
    if (member == "DebugHookConfig" && !content.contains("LocalPath"))
      content["LocalPath"] = "/opt/ml/output/tensors";
    spec.config_files.emplace(file, json::serialize(content));
  }
  spec.config_files.emplace("trainingjobconfig.json", json::serialize(request));
}

void FillData(const SpecInput& input, model::InstanceSpec& spec) {
  const json::object& request = input.job.request;
  spec.checkpoint_s3_uri = MemberText(request, "CheckpointConfig", "S3Uri");
  const std::string local = MemberText(request, "CheckpointConfig", "LocalPath");
  if (!local.empty()) spec.checkpoint_local_path = model::NormalProgramPath(local);
  spec.model_s3_uri = model::ModelArtifactsUri(request, input.job.name);
  spec.output_s3_uri = model::OutputDataUri(request, input.job.name);
  spec.output_kms_key = MemberText(request, "OutputDataConfig", "KmsKeyId");
  spec.compress = MemberText(request, "OutputDataConfig", "CompressionType") != "NONE";
  if (const json::object* resources = FindObject(request, "ResourceConfig")) {
    spec.volume_bytes = GetInt(*resources, "VolumeSizeInGB") << 30;
  }
  spec.stays = input.job.KeepAlive() > Seconds(0) && !input.job.IsSpot();
  spec.keeps_cache = spec.stays || !input.self.predecessor.empty();
  // A limit of zero would mean none; the planner does not place a job that has nothing left.
  if (const auto left = plan::RunTimeLeft(input.job)) spec.run_limit = std::max(*left, Millis(1));
}

// Script mode's source, as the SDK writes it: a JSON string, or the bare text.
std::string SubmitDirectory(const model::InstanceSpec& spec) {
  const auto found = spec.hyperparameters.find("sagemaker_submit_directory");
  if (found == spec.hyperparameters.end()) return {};
  const auto parsed = ParseJson(found->second);
  return parsed && parsed->is_string() ? std::string(View(parsed->get_string())) : found->second;
}

}  // namespace

std::set<std::string> BucketsOf(const model::InstanceSpec& spec, const HostChannels& channels) {
  std::set<std::string> out = channels.remote_buckets;
  for (const std::string& uri :
       {spec.model_s3_uri, spec.output_s3_uri, spec.checkpoint_s3_uri, SubmitDirectory(spec)}) {
    if (const auto where = wire::ParseS3Uri(uri)) out.insert(where->bucket);
  }
  return out;
}

Result<fleet::Preparation> BuildSpec(const SpecInput& input, const SpecSettings& settings,
                                     const store::Paths& paths) {
  fleet::Preparation out;
  model::InstanceSpec& spec = out.spec;
  spec.id = input.self.id;
  spec.job_name = input.job.name;
  spec.job_arn = input.job.arn;
  spec.region = input.job.region;
  spec.account = input.job.account;
  spec.role_arn = GetString(input.job.request, "RoleArn");
  FillPlace(input, spec);
  RETURN_IF_ERROR(FillProgram(input.job.request, spec));
  AddConfigFiles(input.job.request, spec);
  FillData(input, spec);
  spec.channels = input.channels.channels;
  spec.cache = paths.cache().native();
  spec.cache_bytes = settings.cache_bytes;
  spec.fastfile_bytes = settings.fastfile_bytes;
  spec.fastfile_disk_bytes = settings.fastfile_disk_bytes;
  if (input.self.spot) spec.imds = settings.imds;
  out.listings = input.channels.listings;
  spec.stop_grace = settings.stop_grace;
  spec.python = settings.python;
  spec.endpoint = settings.endpoint;
  spec.endpoint_file = paths.endpoint().native();
  spec.client_data = paths.aws_models().native();
  spec.ca_bundle = paths.ca_bundle().native();
  spec.log_group = model::kTrainingLogGroup;
  spec.log_stream = model::TrainingLogStream(input.self);
  spec.log_file = paths.log_stream(spec.log_group, spec.log_stream).native();
  spec.wake_socket = paths.wake_socket().native();
  // Under network isolation too: the agent needs them, and keeps them from the program.
  spec.access_key_id = input.session.access_key_id;
  spec.secret_access_key = input.session.secret_access_key;
  spec.session_token = input.session.session_token;
  return out;
}

}  // namespace sabia::control
