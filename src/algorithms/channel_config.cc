#include "algorithms/channel_config.h"

#include <algorithm>
#include <string>

#include "algorithms/python_text.h"
#include "base/encoding.h"

namespace sabia::algorithms {
namespace {

// The value of one channel as Python prints a dict.
std::string PythonDict(const json::object& object) {
  std::string text = "{";
  for (const auto& member : object) {
    if (text.size() > 1) text += ", ";
    const json::string* value = member.value().if_string();
    text +=
        fmt::format("'{}': {}", std::string_view(member.key().data(), member.key().size()),
                    value ? fmt::format("'{}'", View(*value)) : json::serialize(member.value()));
  }
  return text + "}";
}

tl::unexpected<Error> NotSupported(std::string_view channel, const json::object& config) {
  return Fail(ErrorCode::kInvalidArgument,
              "Channel configuration for '{}' channel is not supported: {}", channel,
              PythonDict(config));
}

Status CheckDistribution(std::string_view channel, const json::object& config) {
  const std::string distribution = GetString(config, "S3DistributionType", "FullyReplicated");
  if (distribution == "FullyReplicated") return {};
  if (distribution == "ShardedByS3Key" && channel != "code") return {};
  return NotSupported(channel, config);
}

struct DataChannel {
  DataFormat format;
  bool pipe;
};

Result<DataChannel> ReadDataChannel(std::string_view name, const json::object& config) {
  ASSIGN_OR_RETURN(const DataFormat format, ParseContentType(GetString(config, "ContentType")));
  RETURN_IF_ERROR(CheckDistribution(name, config));
  const std::string mode = GetString(config, "TrainingInputMode", "File");
  if (mode == "Pipe" && format != DataFormat::kLibsvm) return DataChannel{format, true};
  if (mode != "File") return NotSupported(name, config);
  return DataChannel{format, false};
}

}  // namespace

Result<DataFormat> ParseContentType(std::string_view content_type) {
  const std::vector<std::string> parts = SplitText(ToLower(content_type), ';');
  const std::string type(Trim(parts[0]));
  if (type.empty() || type == "libsvm" || type == "text/libsvm" || type == "text/x-libsvm") {
    return DataFormat::kLibsvm;
  }
  if (type == "csv" || type == "text/csv") {
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::vector<std::string> parameter = SplitText(parts[i], '=');
      if (Trim(parameter[0]) != "label_size") continue;
      if (parameter.size() == 2 && Trim(parameter[1]) == "1") continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "{} is not an accepted csv ContentType. Optional parameter label_size must be "
                  "equal to 1",
                  content_type);
    }
    return DataFormat::kCsv;
  }
  if (type == "recordio-protobuf" || type == "application/x-recordio-protobuf") {
    return DataFormat::kRecordIo;
  }
  if (type == "parquet" || type == "application/x-parquet") {
    return Fail(ErrorCode::kInvalidArgument,
                "ContentType {} is not available in this XGBoost: give the data as text/csv, "
                "text/libsvm or application/x-recordio-protobuf",
                content_type);
  }
  return Fail(ErrorCode::kInvalidArgument,
              "{} is not an accepted ContentType: csv, libsvm, parquet, recordio-protobuf, "
              "text/csv, text/libsvm, text/x-libsvm, application/x-parquet, "
              "application/x-recordio-protobuf.",
              content_type);
}

Result<ChannelConfig> ReadChannelConfig(const json::object& document) {
  if (!document.contains("train")) {
    return Fail(ErrorCode::kInvalidArgument, "Missing required channel: train");
  }
  ChannelConfig result;
  for (const auto& member : document) {
    const std::string_view name(member.key().data(), member.key().size());
    const json::object* config = member.value().if_object();
    if (name != "train" && name != "validation" && name != "code") {
      return Fail(ErrorCode::kInvalidArgument, "Extraneous channel found: {}", name);
    }
    if (!config) {
      return Fail(ErrorCode::kInvalidArgument, "inputdataconfig.json: channel '{}' is no object",
                  name);
    }
    if (name == "code") {
      if (GetString(*config, "TrainingInputMode", "File") != "File")
        return NotSupported(name, *config);
      RETURN_IF_ERROR(CheckDistribution(name, *config));
      continue;
    }
    ASSIGN_OR_RETURN(const DataChannel channel, ReadDataChannel(name, *config));
    if (name == "train") {
      result.format = channel.format;
      result.pipe = channel.pipe;
    } else {
      result.validation = true;
    }
  }
  return result;
}

}  // namespace sabia::algorithms
