#include "agent/remote_data.h"

#include "channels/object_cache.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

constexpr Millis kPatience{300'000};  // of one call
constexpr double kGiB = 1ULL << 30;

// Of this run of the machine: partial files of an earlier one may hold anything.
std::string BootId() {
  env::PosixFiles files;
  std::string id = files.Read("/proc/sys/kernel/random/boot_id", 256).value_or("");
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

// Objects of the embedded store that are no files here are encrypted: what is opened of them stays
// with the instance and goes with it.
bool IsOpened(const model::InstanceSpec& spec, const channels::ListedObject& object) {
  return !object.local() && FindObject(spec.external_buckets, object.bucket) == nullptr;
}

channels::CacheOptions OptionsOf(const model::InstanceSpec& spec) {
  channels::CacheOptions options;
  options.directory = spec.cache;
  options.limit_bytes = static_cast<std::uint64_t>(spec.cache_bytes);
  options.endpoint = [&spec](const std::string& bucket) {
    const json::object* outside = FindObject(spec.external_buckets, bucket);
    return outside == nullptr ? spec.endpoint : GetString(*outside, "url");
  };
  options.fetch.boot = BootId();
  return options;
}

}  // namespace

Path RemoteData::OpenedDirectory(const Layout& layout) { return layout.scratch() / "opened"; }

Result<std::vector<channels::ListedObject>> RemoteData::Bring(
    Instance& instance, const std::vector<channels::ListedObject>& objects) {
  const model::InstanceSpec& spec = instance.spec;
  std::uint64_t bytes = 0;
  std::size_t remote = 0;
  for (const channels::ListedObject& object : objects) {
    if (object.local()) continue;
    bytes += object.size;
    ++remote;
  }
  if (remote == 0) return objects;
  volume_used_ += bytes;
  const auto volume = static_cast<std::uint64_t>(spec.volume_bytes);
  if (volume > 0 && volume_used_ > volume) {
    return Fail(ErrorCode::kInvalidArgument,
                "the downloaded channels take {:.2f} GiB, which is more than VolumeSizeInGB {}: "
                "raise it, or use FastFile",
                static_cast<double>(volume_used_) / kGiB, volume >> 30);
  }
  const auto get = [&](channels::CacheOptions options, const Path& pins,
                       const std::vector<channels::ListedObject>& wanted) {
    return channels::ObjectCache(std::move(options))
        .Get(
            wanted, pins, [&instance] { return instance.connect(instance.spec, kPatience); },
            [&instance] { return instance.cancelled.load(); });
  };
  std::vector<channels::ListedObject> opened;
  for (const channels::ListedObject& object : objects) {
    if (IsOpened(spec, object)) opened.push_back(object);
  }
  std::vector<channels::ListedObject> rest = objects;
  if (!opened.empty()) {
    channels::CacheOptions options = OptionsOf(spec);
    options.directory = OpenedDirectory(instance.layout);
    ASSIGN_OR_RETURN(channels::ObjectCache::Files own,
                     get(std::move(options), OpenedDirectory(instance.layout) / "pins", opened));
    auto next = own.objects.begin();
    for (channels::ListedObject& object : rest) {
      if (IsOpened(spec, object)) object = std::move(*next++);
    }
    if (opened.size() == remote) return rest;
  }
  ASSIGN_OR_RETURN(channels::ObjectCache::Files files,
                   get(OptionsOf(spec), instance.layout.pins(), rest));
  if (files.stats.hits > 0) {
    instance.notes.push_back(
        fmt::format("{} of {} objects were on the disk already", files.stats.hits, remote));
  }
  return std::move(files.objects);
}

void RemoteData::Release(const model::InstanceSpec& spec) {
  if (!spec.cache.empty()) channels::ObjectCache(OptionsOf(spec)).Evict();
}

}  // namespace sabia::agent
