#include "channels/download.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace sabia::channels {
namespace {

// More connections than this gain nothing on a 10 Gbit/s link and cost the server.
constexpr std::size_t kConnectionsMax = 8;

class Downloads {
 public:
  Downloads(std::vector<const ListedObject*> work, const env::Path& root,
            const MakeClient& make_client, const Cancelled& cancelled)
      : work_(std::move(work)), root_(root), make_client_(make_client), cancelled_(cancelled) {}

  Status Run() {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(kConnectionsMax, work_.size()); ++i) {
      threads.emplace_back([this] { Drain(); });
    }
    Drain();
    for (std::thread& thread : threads) thread.join();
    return first_;
  }

 private:
  void Drain() {
    auto client = make_client_();
    if (!client) return Report(tl::make_unexpected(std::move(client).error()));
    while (!failed_.load()) {
      const std::size_t at = next_.fetch_add(1);
      if (at >= work_.size()) return;
      Status got = cancelled_ && cancelled_() ? Status(Fail(ErrorCode::kTimeout, "cancelled"))
                                              : Fetch(**client, *work_[at]);
      if (!got) return Report(Wrap(std::move(got).error(), fmt::format("'{}'", work_[at]->path)));
    }
  }

  Status Fetch(wire::S3Client& client, const ListedObject& object) {
    RETURN_IF_ERROR(MakeParents(root_, object.path));
    const env::Path target = root_ / object.path;
    RETURN_IF_ERROR(client.Download({object.bucket, object.key}, target));
    struct stat info {};
    if (::stat(target.c_str(), &info) != 0)
      return FailErrno(errno, "failed to look at '{}'", object.path);
    if (static_cast<std::uint64_t>(info.st_size) != object.size) {
      return Fail(ErrorCode::kConflict, "has {} bytes now, and had {} when the job was created",
                  info.st_size, object.size);
    }
    return {};
  }

  void Report(Status status) {
    const std::lock_guard lock(mutex_);
    if (!failed_.exchange(true)) first_ = std::move(status);
  }

  const std::vector<const ListedObject*> work_;
  const env::Path root_;
  const MakeClient& make_client_;
  const Cancelled& cancelled_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status first_;
};

}  // namespace

Status DownloadObjects(std::span<const ListedObject> objects, const env::Path& root,
                       const MakeClient& make_client, const Cancelled& cancelled) {
  std::vector<const ListedObject*> work;
  for (const ListedObject& object : objects) {
    if (!object.local()) work.push_back(&object);
  }
  if (work.empty()) return {};
  return Downloads(std::move(work), root, make_client, cancelled).Run();
}

}  // namespace sabia::channels
