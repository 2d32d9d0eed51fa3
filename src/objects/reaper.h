// Removes the files of blobs that lost their rows.
//
// Level-based: what to remove is the table of garbage, so a crash or a lost wake-up costs time
// only. Rows are forgotten after the removal is synced. Removal waits a moment for company, so that
// a loop of overwrites shares its syncs.
//
// Threading: owns one thread; Wake() from any thread. Errors are logged and tried again at the next
// wake-up.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/time.h"
#include "objects/blob_directory.h"
#include "store/database.h"

namespace sabia::objects {

class Reaper {
 public:
  Reaper(store::Database& database, BlobDirectory& blobs);
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  ~Reaper();  // finishes the batch at hand; the rest waits for the next start

  void Wake();

 private:
  void Run();
  // True when there may be more.
  Result<bool> RemoveSome();

  store::Database& database_;
  BlobDirectory& blobs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = true;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sabia::objects
