#include "agent/contract_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "channels/listing.h"
#include "env/posix/posix_files.h"
#include "model/instance_tree.h"

namespace sabia::agent {
namespace {

json::array Strings(const std::vector<std::string>& values) {
  json::array out;
  for (const std::string& value : values) out.emplace_back(value);
  return out;
}

json::object GroupEntry(const model::GroupSpec& group) {
  return {{"hosts", Strings(group.hosts)},
          {"instance_group_name", group.name},
          {"instance_type", group.instance_type}};
}

// The XGBoost container knows File and Pipe only; a FastFile view looks like File to it.
std::string_view ModeSeenBy(model::ImageKind image, model::InputMode mode) {
  const bool hide = image == model::ImageKind::kXgboost && mode == model::InputMode::kFastFile;
  return Name(hide ? model::InputMode::kFile : mode);
}

Status MakeDirectory(const Path& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    ::chmod(path.c_str(), mode);  // the umask took bits
    return {};
  }
  if (errno == EEXIST) return {};
  return FailErrno(errno, "failed to create directory '{}'", path.native());
}

Status WriteFile(const Path& path, std::string_view content) {
  ASSIGN_OR_RETURN(const env::UniqueFd fd, env::OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return env::WriteAll(fd.get(), content);
}

}  // namespace

json::object ResourceConfig(const model::InstanceSpec& spec) {
  json::array groups;
  for (const model::GroupSpec& group : spec.groups) groups.push_back(GroupEntry(group));
  if (groups.empty()) groups.push_back(GroupEntry({spec.group, spec.instance_type, spec.hosts}));
  return {{"current_group_name", spec.group},
          {"current_host", spec.host},
          {"current_instance_type", spec.instance_type},
          {"hosts", Strings(spec.hosts)},
          {"instance_groups", std::move(groups)},
          {"network_interface_name", "lo"}};
}

json::object InputDataConfig(const model::InstanceSpec& spec) {
  json::object out;
  for (const model::ChannelSpec& channel : spec.channels) {
    json::object entry;
    if (!channel.content_type.empty()) entry["ContentType"] = channel.content_type;
    entry["TrainingInputMode"] = ModeSeenBy(spec.image, channel.mode);
    entry["S3DistributionType"] = channel.distribution;
    entry["RecordWrapperType"] = channel.record_wrapper;
    out[channel.name] = std::move(entry);
  }
  return out;
}

std::map<std::string, std::string> ContractFiles(const model::InstanceSpec& spec) {
  json::object hyperparameters;
  for (const auto& [key, value] : spec.hyperparameters) hyperparameters[key] = value;
  json::array metrics;
  for (const model::MetricDefinition& metric : spec.metrics) {
    metrics.push_back(json::object{{"Name", metric.name}, {"Regex", metric.regex}});
  }
  std::map<std::string, std::string> out = {
      {"hyperparameters.json", json::serialize(hyperparameters)},
      {"inputdataconfig.json", json::serialize(InputDataConfig(spec))},
      {"resourceconfig.json", json::serialize(ResourceConfig(spec))},
      {"metric-definition-regex.json", json::serialize(metrics)},
      {"init-config.json", "{}"},
      {"upstreamoutputdataconfig.json", "[]"},
  };
  if (!spec.checkpoint_s3_uri.empty()) {
    out["checkpointconfig.json"] = json::serialize(
        json::object{{"S3Uri", spec.checkpoint_s3_uri}, {"LocalPath", spec.checkpoint_local_path}});
  }
  for (const auto& [name, content] : spec.config_files) out[name] = content;
  return out;
}

Status MakeInstanceTree(const Layout& layout) {
  for (const auto& [path, mode] : model::kInstanceTree)
    RETURN_IF_ERROR(MakeDirectory(layout.directory() / path, mode));
  return {};
}

Status WriteContractFiles(const model::InstanceSpec& spec, const Path& directory) {
  for (const auto& [name, content] : ContractFiles(spec)) {
    if (!channels::IsSafeRelativePath(name) || name.find('/') != name.npos) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is no plain file name", name);
    }
    RETURN_IF_ERROR(WriteFile(directory / name, content));
  }
  return {};
}

}  // namespace sabia::agent
