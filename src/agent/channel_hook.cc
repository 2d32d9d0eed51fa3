#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "agent/hook.h"
#include "agent/remote_data.h"
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

// Input data: a channel's objects appear below /opt/ml/input/data/<channel>.
//
// File: an overlay over hard links, so that a program may change its copy and nobody else's.
// FastFile: the links, read-only. Where the kernel forbids mounts, a File channel is copied
// instead, and the report says so.
class ChannelHook final : public Hook {
 public:
  std::string_view name() const override { return "channels"; }
  model::AgentPhase phase() const override { return model::AgentPhase::kDownloading; }

  bool IsUsersFault(ErrorCode code) const override {
    return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound ||
           code == ErrorCode::kDenied || code == ErrorCode::kUnimplemented;
  }

  Status Prepare(Instance& instance) override {
    RETURN_IF_ERROR(MakeDirectory(instance.layout.scratch() / "channels"));
    for (std::size_t i = 0; i < instance.spec.channels.size(); ++i) {
      const model::ChannelSpec& channel = instance.spec.channels[i];
      Status prepared = PrepareChannel(instance, channel, i);
      if (!prepared) {
        return Wrap(
            std::move(prepared).error(),
            fmt::format("Data download failed:channel '{}' from {}", channel.name, channel.s3_uri));
      }
    }
    return {};
  }

  void Cleanup(Instance& instance) override {
    for (const Path& target : overlays_) (void)channels::Unmount(target);
    overlays_.clear();
    env::PosixFiles files;
    (void)files.RemoveTree(instance.layout.scratch() / "channels");
    (void)files.RemoveTree(instance.layout.pins());
    RemoteData::Release(instance.spec);
  }

 private:
  Status PrepareChannel(Instance& instance, const model::ChannelSpec& channel, std::size_t index) {
    if (!IsPlainName(channel.name) || !IsPlainName(channel.listing)) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is no plain name", channel.name);
    }
    if (channel.mode == model::InputMode::kPipe) {
      return Fail(ErrorCode::kUnimplemented, "input mode Pipe is not supported");
    }
    env::PosixFiles files;
    auto text = files.Read(instance.layout.directory() / channel.listing, kListingMax);
    if (!text) return Fail(ErrorCode::kInternal, "no listing: {}", text.error().message);
    ASSIGN_OR_RETURN(const std::vector<channels::ListedObject> listed,
                     channels::ParseListing(*text));
    ASSIGN_OR_RETURN(const auto objects, remote_.Bring(instance, listed));
    return Present(instance, channel, index, objects);
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
      return Fill(instance, objects, target, channels::LinkMode::kCopy);
    }
    const Path lower = layers / "lower";
    RETURN_IF_ERROR(MakeDirectory(layers));
    RETURN_IF_ERROR(MakeDirectory(lower));
    RETURN_IF_ERROR(Fill(instance, objects, lower, channels::LinkMode::kHardLink));
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
    return Fill(instance, objects, dirs.target, channels::LinkMode::kCopy);
  }

  Status Fill(Instance& instance, const std::vector<channels::ListedObject>& objects,
              const Path& root, channels::LinkMode mode) {
    ASSIGN_OR_RETURN(const channels::ViewStats stats,
                     channels::BuildView(objects, root, mode,
                                         [&instance] { return instance.cancelled.load(); }));
    if (mode == channels::LinkMode::kHardLink && stats.copied > 0) {
      instance.notes.push_back(
          fmt::format("{} objects were copied, for they could not be linked", stats.copied));
    }
    return {};
  }

  RemoteData remote_;
  std::vector<Path> overlays_;
};

}  // namespace

std::unique_ptr<Hook> MakeChannelHook() { return std::make_unique<ChannelHook>(); }

}  // namespace sabia::agent
