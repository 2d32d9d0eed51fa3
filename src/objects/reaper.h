// Removes the files of blobs that lost their rows.
//
// Level-based: what to remove is the table of garbage, so a crash or a lost wake-up costs time
// only. Rows are forgotten after the removal is synced. Removal waits a moment for company, so that
// a loop of overwrites shares its syncs.
//
// Threading: owns one thread; Wake() from any thread. Errors are logged and tried again at the next
// wake-up.
#pragma once

#include "env/background_thread.h"
#include "objects/blob_directory.h"
#include "store/database.h"

namespace sabia::objects {

class Reaper {
 public:
  Reaper(store::Database& database, BlobDirectory& blobs);
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  ~Reaper() = default;  // finishes the batch at hand; the rest waits for the next start

  void Wake() { thread_.Wake(); }

 private:
  // True when there may be more.
  Result<bool> RemoveSome();

  store::Database& database_;
  BlobDirectory& blobs_;
  env::BackgroundThread thread_;  // last: uses all of the above
};

}  // namespace sabia::objects
