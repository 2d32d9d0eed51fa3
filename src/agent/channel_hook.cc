#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/hook.h"
#include "agent/remote_data.h"
#include "channels/epoch_order.h"
#include "channels/listing.h"
#include "channels/local_view.h"
#include "channels/mounts.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

constexpr std::size_t kListingMax = std::size_t{1} << 30;

Status MakeDirectory(const Path& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return FailErrno(errno, "failed to create directory '{}'", path.native());
}

bool IsPlainName(const std::string& name) {
  return channels::IsSafeRelativePath(name) && name.find('/') == name.npos;
}

// What is this host's of a listing that all hosts have.
std::vector<channels::ListedObject> ShareOf(const model::ChannelSpec& channel,
                                            std::vector<channels::ListedObject> objects) {
  if (channel.share_hosts == 1 || !channel.shuffle_seed) return objects;
  const channels::EpochOrder order({static_cast<std::uint64_t>(channel.share_host),
                                    static_cast<std::uint64_t>(channel.share_hosts)},
                                   objects.size(),
                                   static_cast<std::uint64_t>(*channel.shuffle_seed), 0);
  std::vector<channels::ListedObject> share;
  while (const auto number = order.At(share.size())) share.push_back(std::move(objects[*number]));
  return share;
}

FastFileSet::Limits LimitsOf(const model::InstanceSpec& spec) {
  FastFileSet::Limits out;
  out.memory = static_cast<std::uint64_t>(spec.fastfile_bytes);
  // What is kept on the disk is a part of the instance's volume.
  std::int64_t disk = spec.fastfile_disk_bytes;
  if (spec.volume_bytes > 0) disk = std::min(disk, spec.volume_bytes);
  out.disk = static_cast<std::uint64_t>(disk);
  return out;
}

// Input data: a channel's objects appear below /opt/ml/input/data/<channel>.
//
// File: an overlay over hard links, so that a program may change its copy and nobody else's.
// FastFile: the links, read-only, or a file system that fetches what is read (fast_set.h). Pipe:
// FIFOs (pipe_set.h). Where the kernel forbids mounts, a File channel is copied instead; where it
// has no FUSE, a FastFile channel from outside is downloaded first; the report says so.
class ChannelHook final : public Hook {
 public:
  std::string_view name() const override { return "channels"; }
  model::AgentPhase phase() const override { return model::AgentPhase::kDownloading; }

  bool IsUsersFault(ErrorCode code) const override { return IsUsersDataFault(code); }

  Status Prepare(Instance& instance) override {
    RETURN_IF_ERROR(MakeDirectory(instance.layout.scratch() / "channels"));
    for (std::size_t i = 0; i < instance.spec.channels.size(); ++i) {
      const model::ChannelSpec& channel = instance.spec.channels[i];
      Status prepared = PrepareChannel(instance, channel, i);
      if (!prepared) {
        return Wrap(std::move(prepared).error(), DataFailure(channel));
      }
    }
    return instance.fast ? MountFast(instance) : Status();
  }

  void Cleanup(Instance& instance) override {
    for (const Path& target : overlays_) (void)channels::Unmount(target);
    overlays_.clear();
    instance.pipes.reset();
    instance.fast.reset();
    env::PosixFiles files;
    (void)files.RemoveTree(instance.layout.scratch() / "channels");
    (void)files.RemoveTree(instance.layout.pins());
    (void)files.RemoveTree(RemoteData::OpenedDirectory(instance.layout));
    RemoteData::Release(instance.spec);
  }

 private:
  Status PrepareChannel(Instance& instance, const model::ChannelSpec& channel, std::size_t index) {
    if (!IsPlainName(channel.name) || !IsPlainName(channel.listing)) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is no plain name", channel.name);
    }
    if (channel.mode == model::InputMode::kPipe) return PreparePipe(instance, channel, index);
    env::PosixFiles files;
    auto text = files.Read(instance.layout.directory() / channel.listing, kListingMax);
    if (!text) return Fail(ErrorCode::kInternal, "no listing: {}", text.error().message);
    ASSIGN_OR_RETURN(std::vector<channels::ListedObject> listed, channels::ParseListing(*text));
    listed = ShareOf(channel, std::move(listed));
    fetched_ = std::any_of(listed.begin(), listed.end(),
                           [](const channels::ListedObject& object) { return !object.local(); });
    if (fetched_ && channel.mode == model::InputMode::kFastFile && !no_fuse_) {
      if (!instance.fast)
        instance.fast = std::make_unique<FastFileSet>(instance.clock, LimitsOf(instance.spec));
      instance.fast->Add(channel, std::move(listed));
      fast_.push_back(index);
      return {};
    }
    ASSIGN_OR_RETURN(const auto objects, remote_.Bring(instance, listed));
    return Present(instance, channel, index, objects);
  }

  Status MountFast(Instance& instance) {
    Status mounted = instance.no_mounts.empty()
                         ? MakeDirectory(instance.layout.fast())
                         : Fail(ErrorCode::kUnimplemented, "{}", instance.no_mounts);
    if (mounted)
      mounted = instance.fast->Mount(
          {instance.layout.fast(), instance.layout.scratch()},
          [&instance] { return instance.connect(instance.spec, kPipePatience); });
    if (!mounted && mounted.error().code != ErrorCode::kUnimplemented) return mounted;
    if (!mounted) {
      instance.fast.reset();
      no_fuse_ = true;
    }
    for (const std::size_t index : fast_) {
      const model::ChannelSpec& channel = instance.spec.channels[index];
      if (no_fuse_) {
        instance.notes.push_back(fmt::format("channel '{}' was downloaded before the program: {}",
                                             channel.name, mounted.error().message));
        Status prepared = PrepareChannel(instance, channel, index);
        if (!prepared) return Wrap(std::move(prepared).error(), DataFailure(channel));
        continue;
      }
      RETURN_IF_ERROR(MakeDirectory(instance.layout.data() / channel.name));
      instance.views.push_back({instance.layout.fast() / channel.name,
                                std::string(kOptMl) + "/input/data/" + channel.name});
    }
    return {};
  }

  Status PreparePipe(Instance& instance, const model::ChannelSpec& channel, std::size_t index) {
    if (!instance.pipes) instance.pipes = std::make_unique<PipeSet>(instance.clock);
    const Path scratch = instance.layout.channel_scratch(index);
    RETURN_IF_ERROR(MakeDirectory(scratch));
    return instance.pipes->Add(
        channel, {instance.layout.directory() / channel.listing, instance.layout.data(), scratch},
        [&instance] { return instance.connect(instance.spec, kPipePatience); });
  }

  Status Present(Instance& instance, const model::ChannelSpec& channel, std::size_t index,
                 const std::vector<channels::ListedObject>& objects) {
    const Path target = instance.layout.data() / channel.name;
    const Path layers = instance.layout.channel_scratch(index);
    RETURN_IF_ERROR(MakeDirectory(target));
    const bool fast = channel.mode == model::InputMode::kFastFile;
    const bool overlay = !fast && instance.no_mounts.empty();
    if (!fast && !overlay) {
      instance.notes.push_back(
          fmt::format("channel '{}' was copied: {}", channel.name, instance.no_mounts));
      return Fill(instance, channel, objects, target, channels::LinkMode::kCopy);
    }
    const Path lower = layers / "lower";
    RETURN_IF_ERROR(MakeDirectory(layers));
    RETURN_IF_ERROR(MakeDirectory(lower));
    RETURN_IF_ERROR(Fill(instance, channel, objects, lower, channels::LinkMode::kHardLink));
    if (fast) {
      instance.views.push_back({lower, std::string(kOptMl) + "/input/data/" + channel.name});
      return {};
    }
    return Overlay(instance, channel, {lower, layers / "upper", layers / "work", target}, objects);
  }

  Status Overlay(Instance& instance, const model::ChannelSpec& channel,
                 const channels::OverlayDirs& dirs,
                 const std::vector<channels::ListedObject>& objects) {
    RETURN_IF_ERROR(MakeDirectory(dirs.upper));
    RETURN_IF_ERROR(MakeDirectory(dirs.work));
    const Status mounted = channels::MountOverlay(dirs);
    if (mounted) {
      overlays_.push_back(dirs.target);
      return {};
    }
    instance.notes.push_back(
        fmt::format("channel '{}' was copied: {}", channel.name, mounted.error().message));
    return Fill(instance, channel, objects, dirs.target, channels::LinkMode::kCopy);
  }

  void Account(Instance& instance, const model::ChannelSpec& channel,
               const std::vector<channels::ListedObject>& objects,
               const channels::ViewStats& stats) {
    model::ChannelReport report;
    report.name = channel.name;
    report.mode = channel.mode;
    report.way = fetched_ ? "download" : stats.copied > 0 ? "copy" : "view";
    report.objects = static_cast<std::int64_t>(objects.size());
    for (const channels::ListedObject& object : objects)
      report.bytes += static_cast<std::int64_t>(object.size);
    std::erase_if(instance.channels, [&](const auto& known) { return known.name == channel.name; });
    instance.channels.push_back(std::move(report));
  }

  Status Fill(Instance& instance, const model::ChannelSpec& channel,
              const std::vector<channels::ListedObject>& objects, const Path& root,
              channels::LinkMode mode) {
    const auto cancelled = [&instance] { return instance.cancelled.load(); };
    ASSIGN_OR_RETURN(const channels::ViewStats stats,
                     channels::BuildView(objects, root, mode, cancelled));
    Account(instance, channel, objects, stats);
    if (mode == channels::LinkMode::kHardLink && stats.copied > 0) {
      instance.notes.push_back(
          fmt::format("{} objects were copied, for they could not be linked", stats.copied));
    }
    return {};
  }

  // Of one call: pipes and files that are read on demand wait for their endpoint for as long as the
  // program runs.
  static constexpr Millis kPipePatience{5'000};
  RemoteData remote_;
  bool fetched_ = false;  // something of the channel at hand came from outside
  bool no_fuse_ = false;
  std::vector<std::size_t> fast_;  // channels of instance.fast
  std::vector<Path> overlays_;
};

}  // namespace

std::unique_ptr<Hook> MakeChannelHook() { return std::make_unique<ChannelHook>(); }

}  // namespace sabia::agent
