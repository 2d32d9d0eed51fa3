// Copies the write-ahead log back into the database file, off the path of commits.
//
// Every kSoftPages of new log a passive checkpoint runs beside the writer. Under writes that never
// pause, or when that thread gets no processor, the log would grow without end and never start
// again from its beginning; so when it is longer than kHardPages, the writer itself copies the rest
// before it goes on, which takes a few milliseconds when the passive one has just done most of it.
//
// Threading: OnCommit is called by the writer's thread after each commit. Errors are logged and
// tried again with later commits: the log grows meanwhile, nothing is lost.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "store/connection.h"

namespace sabia::store {

class Checkpointer {
 public:
  static constexpr int kSoftPages = 1000;  // 4 MiB: what SQLite itself would wait for
  static constexpr int kHardPages = 8000;  // 32 MiB

  explicit Checkpointer(std::unique_ptr<Connection> connection);
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  ~Checkpointer();

  // The log holds this many pages now. May block for as long as the copying takes.
  void OnCommit(sqlite3* writer, int log_pages);

 private:
  void Loop();
  void CopyAll(sqlite3* writer, int log_pages);

  std::unique_ptr<Connection> connection_;
  int hard_next_ = kHardPages;  // of the writer's thread
  std::mutex mutex_;
  std::condition_variable grown_;
  int log_pages_ = 0;      // guarded by mutex_
  int next_ = kSoftPages;  // guarded by mutex_; when to run again
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sabia::store
