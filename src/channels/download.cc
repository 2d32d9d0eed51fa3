#include "channels/download.h"

#include <sys/stat.h>
#include <unistd.h>

#include <vector>

namespace sabia::channels {
namespace {

constexpr char kPartSuffix[] = ".sabia-part";

// The new file is not synced: what was downloaded can be downloaded again.
Status Publish(const FetchJob& job, const env::Path& root, int fd) {
  if (::fchmod(fd, 0644) != 0) return FailErrno(errno, "failed to set the mode");
  const env::Path target = root / job.object->path;
  if (::rename(job.file.c_str(), target.c_str()) == 0) return {};
  return FailErrno(errno, "failed to rename it to '{}'", target.native());
}

}  // namespace

Status DownloadObjects(std::span<const ListedObject> objects, const env::Path& root,
                       const MakeClient& make_client, const Cancelled& cancelled) {
  std::vector<FetchJob> jobs;
  for (const ListedObject& object : objects) {
    if (object.local()) continue;
    RETURN_IF_ERROR(MakeParents(root, object.path));
    jobs.push_back({&object, (root / object.path).native() + kPartSuffix});
  }
  const FetchHooks hooks{{}, [&](const FetchJob& job, int fd) { return Publish(job, root, fd); }};
  Status done = FetchObjects(jobs, {}, make_client, hooks, cancelled);
  if (done) return done;
  for (const FetchJob& job : jobs) ::unlink(job.file.c_str());
  return done;
}

}  // namespace sabia::channels
