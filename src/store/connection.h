// A thin owner of one SQLite connection and of its prepared statements.
//
//   ASSIGN_OR_RETURN(Statement find, connection.Prepare("SELECT size, etag FROM objects WHERE key =
//   ?")); ASSIGN_OR_RETURN(const bool found, find.BindAll(key).Step()); if (found) use(find.Int(0),
//   find.Text(1));
//
// Prepare() keeps statements by their text, so write the text as a literal and bind every value. A
// Statement is reset, and its bindings cleared, when it goes out of scope; it must not outlive its
// connection.
//
// Threading: thread-compatible; a Database hands each connection to one thread at a time.
// Errors: kAlreadyExists (unique or primary key), kConflict (foreign key), kResourceExhausted (disk
// full, value too long, no memory), kIo, kCorrupt, kDenied (read-only), kUnavailable (locked),
// kInternal (bad SQL: our bug). Messages carry the SQL text, never the bound values.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/files.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sabia::store {

class Connection;

// Marks bytes to be bound as a BLOB instead of TEXT.
struct BlobView {
  std::string_view bytes;
};

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Positions count from 1. A failed bind is reported by the next Step(). Text and blobs are
  // copied.
  Statement& Bind(int position, std::string_view text);
  Statement& Bind(int position, const char* text) { return Bind(position, std::string_view(text)); }
  Statement& Bind(int position, const std::string& text) {
    return Bind(position, std::string_view(text));
  }
  Statement& Bind(int position, BlobView blob);
  Statement& Bind(int position, double value);
  Statement& Bind(int position, std::nullptr_t);
  template <std::integral T>
  Statement& Bind(int position, T value) {
    return BindInt(position, static_cast<std::int64_t>(value));
  }
  template <typename T>
  Statement& Bind(int position, const std::optional<T>& value) {
    return value ? Bind(position, *value) : Bind(position, nullptr);
  }
  // Binds positions 1, 2, ...
  template <typename... Args>
  Statement& BindAll(const Args&... args) {
    int position = 0;
    (Bind(++position, args), ...);
    return *this;
  }

  // True: a row stands ready. False: done; the next Step() starts again with the same bindings.
  Result<bool> Step();
  // Steps to the end.
  Status Run();
  // Back to the start, bindings cleared: for repeated inserts with one Statement.
  void Reset();
  // Back to the start; bindings stay until they are bound again.
  void Rewind();

  // Columns of the current row count from 0. NULL reads as 0 or "". Views live until the next
  // Step() or Reset().
  std::int64_t Int(int column) const;
  double Double(int column) const;
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;
  bool IsNull(int column) const;
  std::string String(int column) const { return std::string(Text(column)); }

 private:
  friend class Connection;
  Statement(sqlite3_stmt* statement, bool* in_use) : statement_(statement), in_use_(in_use) {}
  Statement& BindInt(int position, std::int64_t value);
  Statement& Note(int code);

  sqlite3_stmt* statement_;
  bool* in_use_;  // of the connection's cache; null when the statement is ours alone
  int bind_error_ = 0;
};

class Connection {
 public:
  static constexpr int kBusyTimeoutMs = 10'000;
  enum class Mode { kReadWrite, kReadOnly };
  struct Options {
    env::Path path;
    Mode mode = Mode::kReadWrite;
    std::size_t cache_kib = 4096;
    // So many bytes of the file are read through a memory map, without a system call and a copy per
    // page. A disk that fails under a mapped page ends the process, as it would end its commits.
    std::size_t map_bytes = 0;
    int busy_timeout_ms = kBusyTimeoutMs;
  };
  // kReadWrite creates the file (mode 0600) and turns on WAL with synchronous=FULL.
  static Result<std::unique_ptr<Connection>> Open(const Options& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  Result<Statement> Prepare(std::string_view sql);
  // Prepare, bind and run in one go.
  template <typename... Args>
  Status Run(std::string_view sql, const Args&... args) {
    ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
    return statement.BindAll(args...).Run();
  }
  // Any number of statements without parameters, not kept.
  Status Execute(const std::string& sql);

  std::int64_t LastInsertRowId() const;
  // Rows touched by the last INSERT, UPDATE or DELETE.
  std::int64_t Changes() const;
  bool InTransaction() const;
  sqlite3* handle() const { return db_; }

 private:
  struct Cached {
    sqlite3_stmt* statement = nullptr;
    bool in_use = false;
  };
  explicit Connection(sqlite3* db) : db_(db) {}
  void DropUnused();

  sqlite3* db_;
  std::map<std::string, Cached, std::less<>> cache_;
};

}  // namespace sabia::store
