#include "api/channel_rules.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::RefuseValidation;

constexpr std::string_view kAugmented = "AugmentedManifestFile";

const json::array& List(const json::object& object, std::string_view key) {
  static const json::array kEmpty;
  const json::array* found = FindArray(object, key);
  return found == nullptr ? kEmpty : *found;
}

struct ChannelView {
  std::string name;
  std::string mode;  // its own, or the job's
  const json::object& channel;
};

AwsResult<void> CheckFormat(const ChannelView& view) {
  if (view.mode == "Pipe") return {};
  for (const auto& [member, other] :
       {std::pair{"CompressionType", "Gzip"}, std::pair{"RecordWrapperType", "RecordIO"}}) {
    if (GetString(view.channel, member, "None") == "None") continue;
    return RefuseValidation(
        "{} {} of channel '{}' is only supported in Pipe mode; the channel's input mode is {}",
        member, other, view.name, view.mode);
  }
  return {};
}

AwsResult<void> CheckAttributes(const ChannelView& view, const json::object& source) {
  const std::string type = GetString(source, "S3DataType");
  const json::array& names = List(source, "AttributeNames");
  if (type != kAugmented && !names.empty()) {
    return RefuseValidation(
        "AttributeNames of channel '{}' can only be used with S3DataType {}, and it is {}",
        view.name, kAugmented, type);
  }
  if (type != kAugmented) return {};
  if (view.mode != "Pipe") {
    return RefuseValidation(
        "S3DataType {} of channel '{}' is only supported in Pipe mode; the channel's input mode is "
        "{}",
        kAugmented, view.name, view.mode);
  }
  if (names.empty()) {
    return RefuseValidation(
        "S3DataType {} of channel '{}' requires AttributeNames, which names the attributes to "
        "stream",
        kAugmented, view.name);
  }
  return {};
}

AwsResult<void> CheckGroups(const json::object& request, const ChannelView& view,
                            const json::object& source) {
  std::set<std::string_view> groups;
  for (const json::value& group : List(*FindObject(request, "ResourceConfig"), "InstanceGroups")) {
    groups.insert(FindString(group.get_object(), "InstanceGroupName").value_or(""));
  }
  for (const json::value& group : List(source, "InstanceGroupNames")) {
    if (groups.contains(View(group.get_string()))) continue;
    return RefuseValidation(
        "Channel '{}' names instance group '{}', which is not in ResourceConfig.InstanceGroups",
        view.name, View(group.get_string()));
  }
  return {};
}

AwsResult<void> CheckSource(const json::object& request, const ChannelView& view) {
  const json::object* source = FindObject(*FindObject(view.channel, "DataSource"), "S3DataSource");
  if (source == nullptr) {
    return RefuseValidation("DataSource of channel '{}' must hold an S3DataSource", view.name);
  }
  const std::string type = GetString(*source, "S3DataType");
  if (type != "S3Prefix" && type != "ManifestFile" && type != kAugmented) {
    return RefuseValidation(
        "S3DataType {} of channel '{}' is not supported: use S3Prefix, ManifestFile or {}", type,
        view.name, kAugmented);
  }
  if (view.mode == "FastFile" && type != "S3Prefix") {
    return RefuseValidation(
        "Input mode FastFile of channel '{}' requires S3DataType S3Prefix, not {}", view.name,
        type);
  }
  RETURN_IF_ERROR(CheckAttributes(view, *source));
  return CheckGroups(request, view, *source);
}

// "train_0" for "train": what a FIFO of that channel could be called.
bool IsFifoOf(std::string_view name, std::string_view channel) {
  if (!name.starts_with(channel)) return false;
  name.remove_prefix(channel.size());
  return name.size() > 1 && name[0] == '_' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

AwsResult<void> CheckFifoNames(const std::vector<ChannelView>& views) {
  for (const ChannelView& pipe : views) {
    if (pipe.mode != "Pipe") continue;
    for (const ChannelView& other : views) {
      if (other.mode == "Pipe" || !IsFifoOf(other.name, pipe.name)) continue;
      return RefuseValidation(
          "Channel '{}' cannot be used beside channel '{}': in Pipe mode its FIFOs are named "
          "'{}_0', "
          "'{}_1' and so on, and the directory of '{}' would take the place of one",
          other.name, pipe.name, pipe.name, pipe.name, other.name);
    }
  }
  return {};
}

}  // namespace

AwsResult<void> CheckChannels(const json::object& request) {
  const std::string default_mode =
      GetString(*FindObject(request, "AlgorithmSpecification"), "TrainingInputMode");
  std::set<std::string> names;
  std::vector<ChannelView> views;
  for (const json::value& value : List(request, "InputDataConfig")) {
    const json::object& channel = value.get_object();
    const ChannelView view{GetString(channel, "ChannelName"),
                           GetString(channel, "InputMode", default_mode), channel};
    if (view.name == "." || view.name == "..")
      return RefuseValidation("Channel name '{}' is not allowed", view.name);
    if (!names.insert(view.name).second) {
      return RefuseValidation("Channel names must be unique, and '{}' is given twice", view.name);
    }
    RETURN_IF_ERROR(CheckFormat(view));
    RETURN_IF_ERROR(CheckSource(request, view));
    views.push_back(view);
  }
  return CheckFifoNames(views);
}

}  // namespace sabia::api
