// The files of objects: <blobs>/tmp/<id> while unfinished, <blobs>/<2 hex>/<id> for good.
//
// The life of a blob: Create or Link in tmp; written, synced, SyncTemporary(); its row is
// committed; Publish() moves it. The move needs no sync of its own: when power loss undoes it, the
// file is found in tmp at start and its row says that it is wanted. Open() therefore looks in both
// places.
//
// Threading: thread-safe. Errors: kNotFound when the blob is gone; kIo, kResourceExhausted,
// kDenied.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "env/posix/posix_files.h"
#include "env/random.h"
#include "objects/shared_sync.h"
#include "store/paths.h"

namespace sabia::objects {

class BlobDirectory;

// Owns a file in tmp: removes it when destroyed, unless it was published or abandoned.
class TemporaryBlob {
 public:
  TemporaryBlob(TemporaryBlob&& other) noexcept
      : directory_(std::exchange(other.directory_, nullptr)), id_(std::move(other.id_)) {}
  TemporaryBlob& operator=(TemporaryBlob&&) = delete;
  ~TemporaryBlob();
  const std::string& id() const { return id_; }
  // After the row was committed. A failed move is logged, not reported: the blob is readable where
  // it is.
  void Publish();
  // Leaves the file for the next start to judge: it is unknown whether its row was committed.
  void Abandon() { directory_ = nullptr; }

 private:
  friend class BlobDirectory;
  TemporaryBlob(BlobDirectory* directory, std::string id)
      : directory_(directory), id_(std::move(id)) {}
  BlobDirectory* directory_;
  std::string id_;
};

class BlobDirectory {
 public:
  static Result<std::unique_ptr<BlobDirectory>> Open(const store::Paths& paths,
                                                     env::Random& random);

  struct Created {
    TemporaryBlob blob;
    env::UniqueFd fd;  // for writing
  };
  Result<Created> Create();
  // An empty file for parts of an upload, which many write to. It stays in tmp while they do.
  Result<TemporaryBlob> CreateJoint();
  Result<env::UniqueFd> OpenJoint(std::string_view id) const;
  // Whether the joint blob has this size; then it becomes read-only, or writable again.
  Result<bool> FreezeJoint(std::string_view id, std::uint64_t size);
  void ThawJoint(std::string_view id);
  // After the row of the object that it became was committed.
  void PublishJoint(std::string_view id) { TemporaryBlob(this, std::string(id)).Publish(); }
  // A second name for the bytes of a published blob; copies them when the file system has no more
  // links to give.
  Result<TemporaryBlob> Link(std::string_view id);
  Result<env::UniqueFd> OpenBlob(std::string_view id) const;
  Status SyncTemporary() { return temporary_sync_->Sync(); }

  // Brings everything that was written below blobs to the disk. After a failure nothing can be
  // promised any more until the directory is opened again: it fails for good.
  Status SyncAll();

  // Ids in tmp. For the start only, before uploads begin.
  Result<std::vector<std::string>> ListTemporary() const;
  // Writes a blob again, whatever is there, without syncing it.
  Status Rewrite(std::string_view id, std::string_view data);
  Status PublishLeftOver(std::string_view id);
  void RemoveTemporary(std::string_view id);
  // Removes published blobs for good: synced. Missing ones count as removed.
  Status Remove(const std::vector<std::string>& ids);

  env::Path PathOf(std::string_view id) const { return paths_.blob(id); }

 private:
  friend class TemporaryBlob;
  BlobDirectory(store::Paths paths, env::Random& random)
      : paths_(std::move(paths)), random_(random) {}
  Result<TemporaryBlob> CopyInstead(std::string_view id);

  const store::Paths paths_;
  env::Random& random_;
  env::UniqueFd root_;  // of blobs
  std::unique_ptr<SharedSync> temporary_sync_;
  std::atomic<bool> sync_failed_{false};
};

struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
// Appends bytes of one file to another without passing them through this process where the kernel
// can. kIo when the file ends before the range does.
Status AppendFile(int from, FileRange range, int to);
Status SyncFile(int fd);

}  // namespace sabia::objects
