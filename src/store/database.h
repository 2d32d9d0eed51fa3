// A SQLite file with one writer and many readers.
//
// Write() queues a piece of work for the writer thread. The thread runs all queued pieces in one transaction, each in
// its own savepoint, and commits once (WAL, synchronous=FULL): group commit. Write() returns when the commit is on
// disk; a piece that fails is rolled back alone and its error returned. So an acknowledged write survives kill -9 and
// power loss, and 32 callers share one fsync.
//
// Threading: thread-safe; work runs on the writer thread, so it must be short and must not call Write() again.
// Errors: kIo, kCorrupt, kResourceExhausted (disk full: the batch fails, the database stays usable), and whatever the
// work returns.
#pragma once

#include <sqlite3.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/files.h"

namespace sabia::store {

// A prepared statement, reset when it goes out of scope and kept by its connection for the next use.
class Statement;

// One SQLite connection with its cache of prepared statements. Thread-compatible.
class Connection;

struct DatabaseOptions {
  env::Path path;
  // Statement lists: migrations[i] brings a file of version i to version i + 1 (PRAGMA user_version).
  std::vector<std::string> migrations;
  // Pieces of work in one commit at most.
  std::size_t batch_limit = 1024;
  // Pages of cache per connection, in KiB.
  std::size_t cache_kib = 4096;
};

class Database {
 public:
  using Work = std::function<Status(Connection&)>;

  // kInvalidArgument when the file was written by a newer version.
  static Result<std::unique_ptr<Database>> Open(DatabaseOptions options);
  ~Database();  // waits for queued work

  Status Write(Work work);
  // Runs on the calling thread against a consistent snapshot.
  Status Read(const Work& work);

 private:
  class Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sabia::store
