// Copies the write-ahead log back into the database file, off the path of commits.
//
// Every kSoftPages of new log a passive checkpoint runs beside the writer. Under writes that never
// pause the log could then never start again from its beginning; so when it is longer than
// kHardPages, the tail is copied with the writer held up, which takes a few milliseconds because
// the passive one has just done the rest.
//
// Threading: Notify is called by the writer after each commit and only wakes the thread. Errors are
// logged and tried again with the next commits: the log grows meanwhile, nothing is lost.
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

  // The log holds this many pages now.
  void Notify(int log_pages);

 private:
  void Loop();
  // Pages in the log afterwards.
  int Checkpoint();

  std::unique_ptr<Connection> connection_;
  std::mutex mutex_;
  std::condition_variable grown_;
  int log_pages_ = 0;      // guarded by mutex_
  int next_ = kSoftPages;  // guarded by mutex_; when to run again
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sabia::store
