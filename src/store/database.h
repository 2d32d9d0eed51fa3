// A SQLite file with one writer and many readers.
//
// Write() queues a piece of work. One thread runs all queued pieces in one transaction and commits
// once (WAL, synchronous=FULL): group commit (commit_queue.h). Write() returns when the commit is
// on disk; a piece that fails is rolled back alone and its error returned. WriteLater() does not
// wait and has a function called instead, so that one thread can have many writes under way. So an
// acknowledged write survives kill -9 and power loss, and 32 callers share one fsync. A thread
// copies the WAL back into the file, so no commit waits for more than the tail of that.
//
// Threading: thread-safe; work runs on the thread of this or another caller, so it must be short,
// must not call Write() again and must not use what belongs to a thread; it may run more than once,
// with the effects of the run before undone in the database, but not in what it captured. Read()
// runs on the calling thread; nesting it is allowed but holds one connection per level. Errors:
// kIo, kCorrupt, kResourceExhausted (disk full: the batch fails, the database stays usable), and
// whatever the work returns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/files.h"
#include "store/connection.h"

namespace sabia::store {

struct DatabaseOptions {
  env::Path path;
  // Statement lists: migrations[i] brings a file of version i to version i + 1 (PRAGMA
  // user_version).
  std::vector<std::string> migrations;
  // Pieces of work in one commit at most.
  std::size_t batch_limit = 1024;
  // Page cache of each connection at most; filled only as pages are read.
  std::size_t cache_kib = 4096;
};

class Database {
 public:
  using Work = std::function<Status(Connection&)>;

  // Creates the file (mode 0600) when there is none; its directory must exist. kInvalidArgument
  // when the file was written by a newer version.
  static Result<std::unique_ptr<Database>> Open(DatabaseOptions options);
  ~Database();  // REQUIRES: no call is in progress

  using Done = std::function<void(Status)>;

  Status Write(const Work& work);
  // `done` is called when the work is durable, or failed and left no trace; on this or another
  // thread, maybe before the return. It must be short, must not throw and must not write.
  void WriteLater(Work work, Done done);
  // Against a consistent snapshot, which includes every write that was acknowledged before the
  // call.
  Status Read(const Work& work);

 private:
  class Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sabia::store
