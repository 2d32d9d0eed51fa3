// Small objects become files.
//
// The commit of a small object carries its bytes in the table of fresh ones, and its file is
// written without a sync. A while later, or when many bytes have come together, one sync of the
// file system covers all such files, and their rows go. What a power loss leaves is written again
// from the rows at the next start (ReplayFresh), so each step may be cut off and repeated.
//
// When the sync fails the rows stay: the kernel may have dropped what it could not write, and only
// the next start writes the files again. Threading: owns one thread; Committed() from any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "env/background_thread.h"
#include "objects/blob_directory.h"
#include "store/database.h"

namespace sabia::objects {

// For the start, before anything else happens: rewrites the files of fresh objects that still have
// a row, forgets the others, and judges all files among the uploads.
Status RecoverBlobs(BlobDirectory& blobs, store::Database& database);

class Settler {
 public:
  Settler(store::Database& database, BlobDirectory& blobs);
  Settler(const Settler&) = delete;
  Settler& operator=(const Settler&) = delete;
  // Settles what is left, so that a clean start has nothing to replay.
  ~Settler();

  // A row of so many bytes was committed, and its file is written.
  void Committed(std::size_t bytes);

 private:
  Status Settle();

  store::Database& database_;
  BlobDirectory& blobs_;
  std::atomic<std::size_t> pending_bytes_{1};  // an earlier process may have left some
  env::BackgroundThread thread_;               // last: uses all of the above
};

}  // namespace sabia::objects
