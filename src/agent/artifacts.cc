#include "agent/artifacts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/text.h"
#include "channels/archive.h"
#include "channels/beneath.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

// The daemon may be away for a while; artifacts of hours of work wait for it.
constexpr Millis kUploadPatience{6LL * 3600 * 1000};
// Level 1: weights hardly compress, and the job is billed while it packs.
constexpr int kGzipLevel = 1;
constexpr char kModel[] = "model";  // of /opt/ml
// Archives of so few bytes are packed in memory; a member has a header too.
constexpr std::uint64_t kInMemoryMax = 1 << 20;
constexpr std::uint64_t kMemberBytes = 1'024;

Path PathOf(const env::UniqueFd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

// Packed once, for all instances that this process serves; "" when that does not work.
const std::string& EmptyArchive() {
  static const std::string packed = []() -> std::string {
    const env::UniqueFd memory(::memfd_create("archive", MFD_CLOEXEC));
    if (!memory) return "";
    if (!channels::PackTar({}, PathOf(memory), kGzipLevel, [] { return false; })) return "";
    return env::PosixFiles().Read(PathOf(memory), kInMemoryMax).value_or("");
  }();
  return packed;
}

class ArtifactUpload {
 public:
  ArtifactUpload(Instance& instance, const ArtifactOptions& options,
                 std::vector<std::string>& notes)
      : instance_(instance), options_(options), notes_(notes) {}

  Status Connect() {
    ASSIGN_OR_RETURN(client_, instance_.connect(instance_.spec, kUploadPatience));
    return {};
  }

  // tree: below /opt/ml; uri: the archive's, or the prefix of plain files.
  Status Send(const std::string& tree, const std::string& uri, bool even_if_empty) {
    std::vector<Path> roots;
    RETURN_IF_ERROR(AddRoot(instance_.layout, tree, roots));
    for (const std::string& other : options_.merge_from)
      RETURN_IF_ERROR(AddRoot(Layout(other), tree, roots));
    std::vector<std::string> left_out;
    ASSIGN_OR_RETURN(const std::vector<channels::TreeFile> entries,
                     channels::MergeTrees(roots, &left_out));
    if (!instance_.spec.compress) {
      for (const channels::TreeFile& entry : entries) {
        if (entry.type == 'l') left_out.push_back(entry.path + " (symbolic link)");
      }
    }
    if (!left_out.empty()) {
      notes_.push_back(fmt::format("not uploaded from /opt/ml/{}: {}", tree, FewOf(left_out)));
    }
    if (entries.empty() && !even_if_empty) return {};
    ASSIGN_OR_RETURN(wire::S3Target to, wire::ParseS3Uri(uri));
    to.kms_key = instance_.spec.output_kms_key;
    return instance_.spec.compress ? SendArchive(entries, to) : SendFiles(entries, to);
  }

 private:
  Status AddRoot(const Layout& layout, const std::string& tree, std::vector<Path>& roots) {
    ASSIGN_OR_RETURN(const env::UniqueFd root, channels::OpenDirectory(layout.root()));
    if (channels::IsRealDirectory(root.get(), tree)) {
      roots.push_back(layout.root() / tree);
      return {};
    }
    // A model that is not where it belongs is not an empty model: a job that "completed" without it
    // would be found out when the work is lost.
    struct stat info {};
    const bool removed = ::fstatat(root.get(), tree.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0;
    if (!removed && tree == kModel) {
      return Fail(ErrorCode::kInvalidArgument,
                  "/opt/ml/{} was replaced by {}. Only what lies in the directory itself is "
                  "uploaded: write the model into it",
                  tree, S_ISLNK(info.st_mode) ? "a symbolic link" : "a file");
    }
    notes_.push_back(fmt::format("/opt/ml/{} was {} by the program: nothing of it was uploaded",
                                 tree, removed ? "removed" : "replaced"));
    return {};
  }

  Status SendArchive(const std::vector<channels::TreeFile>& entries, const wire::S3Target& to) {
    if (entries.empty() && !EmptyArchive().empty()) {
      const env::UniqueFd memory(::memfd_create("archive", MFD_CLOEXEC));
      if (memory && env::WriteAll(memory.get(), EmptyArchive()))
        return client_->Upload(PathOf(memory), to);
    }
    if (IsSmall(entries)) {
      const env::UniqueFd memory(::memfd_create("archive", MFD_CLOEXEC));
      if (memory) return PackAndSend(entries, PathOf(memory), to);
    }
    const Path archive = instance_.layout.scratch() / Path(to.key).filename();
    Status sent = PackAndSend(entries, archive, to);
    ::unlink(archive.c_str());
    return sent;
  }

  static bool IsSmall(const std::vector<channels::TreeFile>& entries) {
    std::uint64_t bytes = 0;
    for (const channels::TreeFile& entry : entries) bytes += entry.size + kMemberBytes;
    return bytes <= kInMemoryMax;
  }

  Status PackAndSend(const std::vector<channels::TreeFile>& entries, const Path& archive,
                     const wire::S3Target& to) {
    RETURN_IF_ERROR(channels::PackTar(entries, archive, kGzipLevel,
                                      [this] { return instance_.cancelled.load(); }));
    return client_->Upload(archive, to);
  }

  Status SendFiles(const std::vector<channels::TreeFile>& entries, wire::S3Target to) {
    const std::string prefix = to.key.ends_with('/') ? to.key : to.key + "/";
    for (const channels::TreeFile& file : entries) {
      if (file.type != 'f') continue;  // S3 has neither folders nor links
      if (instance_.cancelled.load()) return Fail(ErrorCode::kTimeout, "cancelled");
      to.key = prefix + file.path;
      RETURN_IF_ERROR(client_->Upload(file.source, to));
    }
    return {};
  }

  Instance& instance_;
  const ArtifactOptions& options_;
  std::vector<std::string>& notes_;
  std::unique_ptr<wire::S3Client> client_;
};

}  // namespace

Status UploadArtifacts(Instance& instance, const ArtifactOptions& options,
                       std::vector<std::string>& notes) {
  ArtifactUpload upload(instance, options, notes);
  RETURN_IF_ERROR(upload.Connect());
  if (options.model && !instance.spec.model_s3_uri.empty()) {
    Status sent = upload.Send(kModel, instance.spec.model_s3_uri, true);
    if (!sent) return Wrap(std::move(sent).error(), "failed to upload the model");
  }
  if (options.output && !instance.spec.output_s3_uri.empty()) {
    Status sent = upload.Send("output/data", instance.spec.output_s3_uri, false);
    if (!sent) return Wrap(std::move(sent).error(), "failed to upload the output data");
  }
  return {};
}

}  // namespace sabia::agent
