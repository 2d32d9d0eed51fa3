#include <fcntl.h>
#include <sys/stat.h>

#include "agent/hook.h"

namespace sabia::agent {
namespace {

// For one call; the sync tries again for ever, and must notice now and then that it is to stop.
constexpr Millis kPatience{60'000};

// Checkpoints: what is in S3 lies in the local path before the program starts. The sync itself is
// driven by the supervisor, for it follows the program.
class CheckpointHook final : public Hook {
 public:
  std::string_view name() const override { return "checkpoints"; }

  bool IsUsersFault(ErrorCode code) const override {
    return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound ||
           code == ErrorCode::kDenied;
  }

  Status Prepare(Instance& instance) override {
    const model::InstanceSpec& spec = instance.spec;
    RETURN_IF_ERROR(CheckSandboxPath(spec.checkpoint_local_path));
    ASSIGN_OR_RETURN(wire::S3Location prefix, wire::ParseS3Uri(spec.checkpoint_s3_uri));
    if (!prefix.key.empty() && !prefix.key.ends_with('/')) prefix.key += '/';

    const Path directory = instance.layout.Checkpoints(spec.checkpoint_local_path);
    const Path snapshots = instance.layout.scratch() / "snapshots";
    env::PosixFiles files;
    RETURN_IF_ERROR(files.MakeDirectories(directory));
    RETURN_IF_ERROR(files.MakeDirectories(snapshots));
    instance.checkpoints = std::make_unique<channels::CheckpointSync>(
        channels::CheckpointOptions{.directory = directory,
                                    .snapshots = snapshots,
                                    .prefix = prefix,
                                    .host = spec.host,
                                    .keep = static_cast<std::size_t>(spec.checkpoints_keep)},
        [connect = instance.connect, &spec] { return connect(spec, kPatience); }, instance.clock);
    const auto restored =
        instance.checkpoints->Restore([&instance] { return instance.cancelled.load(); });
    if (!restored) {
      return Wrap(Error(restored.error()),
                  fmt::format("failed to restore checkpoints from '{}'", spec.checkpoint_s3_uri));
    }
    if (restored->left_out > 0) {
      instance.notes.push_back(fmt::format(
          "{} file(s) of checkpoints that had not reached S3 as a whole were not restored",
          restored->left_out));
    }
    instance.restored_files = static_cast<std::int64_t>(restored->files);
    instance.restored_bytes = static_cast<std::int64_t>(restored->bytes);
    return {};
  }

  void Cleanup(Instance& instance) override { instance.checkpoints.reset(); }
};

}  // namespace

std::unique_ptr<Hook> MakeCheckpointHook() { return std::make_unique<CheckpointHook>(); }

}  // namespace sabia::agent
