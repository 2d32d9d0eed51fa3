#include "agent/environment.h"

#include <algorithm>
#include <array>

#include "agent/contract_files.h"
#include "agent/interpreter.h"
#include "agent/layout.h"
#include "agent/python_text.h"

namespace sabia::agent {
namespace {

constexpr char kPackages[] = "/root/.sabia-packages";
constexpr std::string_view kToolkitPrefix = "sagemaker_";
constexpr std::string_view kTuningMetric = "_tuning_objective_metric";
// Keys that the toolkit itself reads; other sagemaker_* keys are for the framework
// (SM_FRAMEWORK_PARAMS).
constexpr std::array<std::string_view, 8> kToolkitKeys = {"sagemaker_program",
                                                          "sagemaker_submit_directory",
                                                          "sagemaker_enable_cloudwatch_metrics",
                                                          "sagemaker_job_name",
                                                          "sagemaker_container_log_level",
                                                          "sagemaker_region",
                                                          "sagemaker_s3_output",
                                                          kTuningMetric};

bool IsToolkitKey(std::string_view key) {
  return key.starts_with(kToolkitPrefix) || key == kTuningMetric;
}

json::object Decoded(const model::InstanceSpec& spec, bool toolkit) {
  json::object out;
  for (const auto& [key, value] : spec.hyperparameters) {
    if (IsToolkitKey(key) == toolkit) out[key] = DecodeHyperparameter(value);
  }
  return out;
}

json::object FrameworkParameters(const json::object& toolkit) {
  json::object out;
  for (const auto& member : toolkit) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::find(kToolkitKeys.begin(), kToolkitKeys.end(), key) == kToolkitKeys.end()) {
      out[key] = member.value();
    }
  }
  return out;
}

std::string Setting(const model::InstanceSpec& spec, std::string_view hyperparameter,
                    const std::string& variable) {
  const json::object toolkit = ToolkitHyperparameters(spec);
  if (const json::value* value = toolkit.if_contains(hyperparameter)) return ArgumentText(*value);
  const auto found = spec.environment.find(variable);
  return found == spec.environment.end() ? std::string() : found->second;
}

std::string ModuleName(const std::string& program) {
  return program.ends_with(".py") ? program.substr(0, program.size() - 3) : program;
}

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

void AddGroups(const model::InstanceSpec& spec, json::object& out) {
  const json::object resources = ResourceConfig(spec);
  json::array names;
  json::object by_name;
  json::value own_hosts = resources.at("hosts");
  for (const json::value& group : resources.at("instance_groups").get_array()) {
    const json::string& name = group.at("instance_group_name").get_string();
    names.emplace_back(name);
    by_name[name] = group;
    if (View(name) == spec.group) own_hosts = group.at("hosts");
  }
  out["hosts"] = resources.at("hosts");
  out["current_host"] = spec.host;
  out["current_instance_type"] = spec.instance_type;
  out["current_instance_group"] = spec.group;
  out["current_instance_group_hosts"] = own_hosts;
  out["is_hetero"] = names.size() > 1;
  out["instance_groups"] = std::move(names);
  out["instance_groups_dict"] = std::move(by_name);
  out["distribution_instance_groups"] = json::array();
  out["network_interface_name"] = "lo";
  out["resource_config"] = resources;
}

// What the toolkit calls the environment: the members of SM_TRAINING_ENV that are variables of
// their own too.
json::object ToolkitEnvironment(const model::InstanceSpec& spec) {
  const json::object toolkit = ToolkitHyperparameters(spec);
  const std::string program = UserProgram(spec);
  json::object out;
  AddGroups(spec, out);
  out["user_entry_point"] = program;
  out["module_name"] = ModuleName(program);
  out["module_dir"] = SubmitDirectory(spec);
  out["log_level"] = toolkit.contains("sagemaker_container_log_level")
                         ? toolkit.at("sagemaker_container_log_level")
                         : json::value(20);
  out["framework_module"] = nullptr;
  out["input_data_config"] = InputDataConfig(spec);
  out["input_dir"] = "/opt/ml/input";
  out["input_config_dir"] = "/opt/ml/input/config";
  out["output_dir"] = "/opt/ml/output";
  out["output_data_dir"] = "/opt/ml/output/data";
  out["output_intermediate_dir"] = "/opt/ml/output/intermediate";
  out["model_dir"] = "/opt/ml/model";
  out["num_cpus"] = std::max(1, static_cast<int>(spec.vcpus));
  out["num_gpus"] = 0;
  out["num_neurons"] = 0;
  return out;
}

json::object TrainingEnv(const model::InstanceSpec& spec, json::object out) {
  json::object channels;
  for (const model::ChannelSpec& channel : spec.channels) {
    channels[channel.name] = "/opt/ml/input/data/" + channel.name;
  }
  const std::string first = spec.hosts.empty() ? spec.host : spec.hosts.front();
  out["additional_framework_parameters"] = FrameworkParameters(ToolkitHyperparameters(spec));
  out["channel_input_dirs"] = std::move(channels);
  out["distribution_hosts"] = out["hosts"];
  out["hyperparameters"] = UserHyperparameters(spec);
  out["is_master"] = spec.host == first;
  out["master_hostname"] = first;
  out["job_name"] = spec.job_name;
  return out;
}

std::string VariableText(const json::value& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return std::string(View(value.get_string()));
  return PythonJson(value);
}

std::string SearchPath(const model::InstanceSpec& spec) {
  std::string out = kSandboxBin;
  // Console scripts of a virtual environment lie beside its interpreter.
  const std::string bin = env::Path(spec.python).parent_path().native();
  const bool standard =
      bin.empty() || bin == "/usr/bin" || bin == "/bin" || bin == "/usr/local/bin";
  if (!standard) out += ":" + bin;
  return out + ":/root/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

// Where pip may write: the installation itself is read-only. A virtual environment takes no user
// packages.
void AddPip(const model::InstanceSpec& spec, Variables& out) {
  if (spec.python.empty()) return;
  if (IsVirtualEnvironment(spec.python)) {
    out["PIP_TARGET"] = kPackages;
    out["PYTHONPATH"] = kPackages;
  } else {
    out["PIP_USER"] = "1";
    out["PIP_BREAK_SYSTEM_PACKAGES"] = "1";
  }
  out["PIP_ROOT_USER_ACTION"] = "ignore";
}

void AddAccess(const model::InstanceSpec& spec, Variables& out) {
  if (spec.network_isolation) return;
  out["AWS_ENDPOINT_URL"] = spec.endpoint;
  out["AWS_ACCESS_KEY_ID"] = spec.access_key_id;
  out["AWS_SECRET_ACCESS_KEY"] = spec.secret_access_key;
  if (!spec.session_token.empty()) out["AWS_SESSION_TOKEN"] = spec.session_token;
  // Clients that do not know AWS_ENDPOINT_URL, or ask STS at a name of their own, find us by these.
  if (!spec.client_data.empty()) {
    out["AWS_DATA_PATH"] = kClientData;
    out["AWS_CA_BUNDLE"] = kCaBundle;
    out["AWS_STS_REGIONAL_ENDPOINTS"] = "regional";
  }
  // The toolkit's name for the same, read by its copy of intermediate output.
  out["S3_ENDPOINT_URL"] = spec.endpoint;
}

}  // namespace

json::object UserHyperparameters(const model::InstanceSpec& spec) { return Decoded(spec, false); }
json::object ToolkitHyperparameters(const model::InstanceSpec& spec) { return Decoded(spec, true); }

std::vector<std::string> UserArguments(const model::InstanceSpec& spec) {
  std::vector<std::string> out;
  // The map is sorted by key.
  for (const auto& [key, value] : spec.hyperparameters) {
    if (IsToolkitKey(key)) continue;
    out.push_back((key.size() > 1 ? "--" : "-") + key);
    out.push_back(ArgumentText(DecodeHyperparameter(value)));
  }
  return out;
}

std::string UserProgram(const model::InstanceSpec& spec) {
  return Setting(spec, "sagemaker_program", "SAGEMAKER_PROGRAM");
}

std::string SubmitDirectory(const model::InstanceSpec& spec) {
  return Setting(spec, "sagemaker_submit_directory", "SAGEMAKER_SUBMIT_DIRECTORY");
}

Variables ToolkitVariables(const model::InstanceSpec& spec) {
  json::object values = ToolkitEnvironment(spec);
  json::array channels;
  std::vector<std::string> names;
  for (const model::ChannelSpec& channel : spec.channels) names.push_back(channel.name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) channels.emplace_back(name);
  json::array arguments;
  for (const std::string& argument : UserArguments(spec)) arguments.emplace_back(argument);

  const json::object training_env = TrainingEnv(spec, values);
  values["training_env"] = training_env;
  values["channels"] = std::move(channels);
  values["hps"] = UserHyperparameters(spec);
  values["framework_params"] = FrameworkParameters(ToolkitHyperparameters(spec));
  values["user_args"] = std::move(arguments);
  for (const std::string& name : names) values["channel_" + name] = "/opt/ml/input/data/" + name;
  for (const auto& member : UserHyperparameters(spec)) {
    values["hp_" + std::string(member.key().data(), member.key().size())] = member.value();
  }
  Variables out;
  for (const auto& member : values) {
    out["SM_" + Upper({member.key().data(), member.key().size()})] = VariableText(member.value());
  }
  return out;
}

Variables ProgramEnvironment(const model::InstanceSpec& spec) {
  Variables out = {
      {"PATH", SearchPath(spec)},
      {"HOME", "/root"},
      {"LANG", "C.UTF-8"},
      {"HOSTNAME", spec.host},
      {"PYTHONUNBUFFERED", "1"},  // a line must reach the log when it is printed
      {"AWS_REGION", spec.region},
      {"AWS_DEFAULT_REGION", spec.region},
      {"SAGEMAKER_METRICS_DIRECTORY", "/opt/ml/output/metrics/sagemaker"},
  };
  AddAccess(spec, out);
  AddPip(spec, out);
  if (spec.image == model::ImageKind::kPython) {
    const std::string packages = out["PYTHONPATH"];
    out["PYTHONPATH"] = packages.empty() ? "/opt/ml/code" : "/opt/ml/code:" + packages;
    out.merge(ToolkitVariables(spec));
  }
  for (const auto& [name, value] : spec.environment) out[name] = value;
  out["TRAINING_JOB_NAME"] = spec.job_name;
  out["TRAINING_JOB_ARN"] = spec.job_arn;
  return out;
}

}  // namespace sabia::agent
