#include "control/channel_inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace sabia::control {
namespace {

model::InputMode ModeOf(std::string_view name) {
  if (name == "FastFile") return model::InputMode::kFastFile;
  if (name == "Pipe") return model::InputMode::kPipe;
  return model::InputMode::kFile;
}

model::ChannelSpec SpecOf(const json::object& channel, const json::object& source,
                          std::string_view default_mode) {
  model::ChannelSpec spec;
  spec.name = GetString(channel, "ChannelName");
  spec.mode = ModeOf(GetString(channel, "InputMode", default_mode));
  spec.content_type = GetString(channel, "ContentType");
  spec.distribution = GetString(source, "S3DataDistributionType", "FullyReplicated");
  spec.record_wrapper = GetString(channel, "RecordWrapperType", "None");
  spec.compression = GetString(channel, "CompressionType", "None");
  spec.s3_uri = GetString(source, "S3Uri");
  if (const json::array* names = FindArray(source, "AttributeNames")) {
    for (const json::value& name : *names) {
      if (name.is_string()) spec.attributes.emplace_back(View(name.get_string()));
    }
  }
  if (const json::object* shuffle = FindObject(channel, "ShuffleConfig")) {
    spec.shuffle_seed = GetInt(*shuffle, "Seed");
  }
  return spec;
}

// The numbers of the hosts that get the channel.
std::vector<int> HostsOf(const json::object& source, const std::vector<std::string>& groups) {
  const json::array* named = FindArray(source, "InstanceGroupNames");
  std::vector<int> hosts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool wanted =
        named == nullptr || named->empty() ||
        std::find(named->begin(), named->end(), json::value(groups[i])) != named->end();
    if (wanted) hosts.push_back(static_cast<int>(i) + 1);
  }
  return hosts;
}

// Who deals out: this side as a rule, so that a listing holds no more than its host needs; the
// agent where the shares follow from an order that changes with each epoch, or from lines of a
// manifest.
void Deal(std::ptrdiff_t host, std::size_t hosts, model::ChannelSpec& spec,
          ChannelSource::Query& query) {
  if (spec.shuffle_seed || !spec.attributes.empty()) {
    spec.share_host = host;
    spec.share_hosts = static_cast<std::int64_t>(hosts);
  } else {
    query.host = static_cast<std::size_t>(host);
    query.hosts = hosts;
  }
}

std::string ListingText(const std::vector<ChannelFile>& files) {
  std::string text;
  for (const ChannelFile& file : files) {
    json::object line{{"path", file.path},     {"size", file.size}, {"blob", file.blob},
                      {"bucket", file.bucket}, {"key", file.key},   {"etag", file.etag}};
    // A blob has its time itself.
    if (file.blob.empty()) line["modified"] = ToUnixMillis(file.modified);
    text += json::serialize(line);
    text += '\n';
  }
  return text;
}

Result<std::vector<ChannelFile>> FilesOf(const model::ChannelSpec& spec, ChannelSource& source,
                                         const ChannelSource::Query& query) {
  if (spec.name == "." || spec.name == "..") {
    return Fail(ErrorCode::kInvalidArgument, "channel '{}' has a name that cannot be a directory",
                spec.name);
  }
  auto files = source.List(query);
  if (!files) return Wrap(files.error(), fmt::format("channel '{}' ({})", spec.name, spec.s3_uri));
  return files;
}

}  // namespace

Result<HostChannels> ChannelsOf(const json::object& request, const std::vector<std::string>& groups,
                                int number, ChannelSource& source) {
  HostChannels out;
  const json::array* channels = FindArray(request, "InputDataConfig");
  if (channels == nullptr) return out;
  const json::object* algorithm = FindObject(request, "AlgorithmSpecification");
  const std::string mode =
      algorithm == nullptr ? "File" : GetString(*algorithm, "TrainingInputMode", "File");
  for (const json::value& value : *channels) {
    if (!value.is_object()) continue;
    const json::object& channel = value.get_object();
    const json::object* data = FindObject(channel, "DataSource");
    const json::object* s3 = data == nullptr ? nullptr : FindObject(*data, "S3DataSource");
    if (s3 == nullptr) {
      return Fail(ErrorCode::kInvalidArgument, "channel '{}' has no S3DataSource",
                  GetString(channel, "ChannelName"));
    }
    const std::vector<int> hosts = HostsOf(*s3, groups);
    const auto place = std::find(hosts.begin(), hosts.end(), number);
    if (place == hosts.end()) continue;
    model::ChannelSpec spec = SpecOf(channel, *s3, mode);
    // The name is ours: the channel's may be anything that the API allows.
    spec.listing = fmt::format("channel-{}.jsonl", out.channels.size());
    ChannelSource::Query query{.s3_uri = spec.s3_uri,
                               .data_type = GetString(*s3, "S3DataType"),
                               .as_files = spec.mode != model::InputMode::kPipe,
                               .role_arn = GetString(request, "RoleArn")};
    if (spec.distribution == "ShardedByS3Key")
      Deal(place - hosts.begin(), hosts.size(), spec, query);
    ASSIGN_OR_RETURN(const std::vector<ChannelFile> files, FilesOf(spec, source, query));
    for (const ChannelFile& file : files) {
      if (file.blob.empty()) out.remote_buckets.insert(file.bucket);
    }
    out.listings[spec.listing] = ListingText(files);
    out.channels.push_back(std::move(spec));
  }
  return out;
}

}  // namespace sabia::control
