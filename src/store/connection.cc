#include "store/connection.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <utility>

#include "base/check.h"
#include "env/posix/posix_files.h"

namespace sabia::store {
namespace {

// Statements kept per connection. Every module has fewer; a text that carries values would show up
// as churn here.
constexpr std::size_t kStatementsMax = 128;

ErrorCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CONSTRAINT:
      switch (sqlite_code) {
        case SQLITE_CONSTRAINT_UNIQUE:
        case SQLITE_CONSTRAINT_PRIMARYKEY:
        case SQLITE_CONSTRAINT_ROWID:
          return ErrorCode::kAlreadyExists;
        case SQLITE_CONSTRAINT_FOREIGNKEY:
          return ErrorCode::kConflict;
        default:
          return ErrorCode::kInternal;
      }
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return ErrorCode::kResourceExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorCode::kDenied;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kInternal;
  }
}

tl::unexpected<Error> Failure(sqlite3* db, int code, std::string_view what) {
  return Fail(CodeOf(code), "sqlite: {} ({}) in: {}", sqlite3_errmsg(db), sqlite3_errstr(code),
              what);
}

// The file may hold secrets of its users (environment variables of jobs), so it is made before
// SQLite would make it with the mode of the umask; the WAL and the index of the WAL take their mode
// from it.
Status MakePrivateFile(const env::Path& path) {
  Result<env::UniqueFd> made = env::OpenFile(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (made) return env::SyncDirectory(path.parent_path());
  if (made.error().code == ErrorCode::kAlreadyExists) return {};
  return tl::make_unexpected(made.error());
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      in_use_(std::exchange(other.in_use_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  if (in_use_ == nullptr) {
    sqlite3_finalize(statement_);
    return;
  }
  Reset();
  *in_use_ = false;
}

Statement& Statement::Note(int code) {
  if (code != SQLITE_OK && bind_error_ == 0) bind_error_ = code;
  return *this;
}

Statement& Statement::Bind(int position, std::string_view text) {
  // A null pointer would bind NULL; an empty view is the empty string.
  const char* data = text.data() == nullptr ? "" : text.data();
  return Note(
      sqlite3_bind_text64(statement_, position, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

Statement& Statement::Bind(int position, BlobView blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  return Note(sqlite3_bind_blob64(statement_, position, data, blob.bytes.size(), SQLITE_TRANSIENT));
}

Statement& Statement::Bind(int position, double value) {
  return Note(sqlite3_bind_double(statement_, position, value));
}

Statement& Statement::Bind(int position, std::nullptr_t) {
  return Note(sqlite3_bind_null(statement_, position));
}

Statement& Statement::BindInt(int position, std::int64_t value) {
  return Note(sqlite3_bind_int64(statement_, position, value));
}

Result<bool> Statement::Step() {
  if (bind_error_ != 0) {
    return Fail(CodeOf(bind_error_), "sqlite: failed to bind a value ({}) in: {}",
                sqlite3_errstr(bind_error_), sqlite3_sql(statement_));
  }
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  auto failure = Failure(sqlite3_db_handle(statement_), code, sqlite3_sql(statement_));
  sqlite3_reset(statement_);
  return failure;
}

Status Statement::Run() {
  while (true) {
    ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) return {};
  }
}

void Statement::Reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bind_error_ = 0;
}

void Statement::Rewind() { sqlite3_reset(statement_); }

std::int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::Double(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Statement::Text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Statement::Blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Result<std::unique_ptr<Connection>> Connection::Open(const Options& options) {
  // Before the first connection: a count of all memory, under a lock that every allocation takes,
  // which nobody reads.
  [[maybe_unused]] static const int kConfigured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  const bool writable = options.mode == Mode::kReadWrite;
  if (writable) RETURN_IF_ERROR(MakePrivateFile(options.path));
  sqlite3* db = nullptr;
  // NOMUTEX: a connection is used by one thread at a time, so SQLite need not lock it on every
  // call.
  const int flags = SQLITE_OPEN_NOMUTEX | (writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  const int code = sqlite3_open_v2(options.path.c_str(), &db, flags, nullptr);
  if (code != SQLITE_OK) {
    auto failure = Failure(db, code, fmt::format("open '{}'", options.path.native()));
    sqlite3_close_v2(db);
    return failure;
  }
  std::unique_ptr<Connection> connection(new Connection(db));
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, options.busy_timeout_ms);
  const std::string pragmas = fmt::format(
      "{}PRAGMA synchronous=FULL; PRAGMA cache_size=-{}; PRAGMA temp_store=MEMORY; "
      "PRAGMA mmap_size={};",
      writable ? "PRAGMA journal_mode=WAL; " : "", options.cache_kib, options.map_bytes);
  if (Status set = connection->Execute(pragmas); !set) {
    return Wrap(set.error(), fmt::format("failed to open '{}': ", options.path.native()));
  }
  return connection;
}

Connection::~Connection() {
  for (auto& [sql, cached] : cache_) {
    CHECK_MSG(!cached.in_use, sql);
    sqlite3_finalize(cached.statement);
  }
  sqlite3_close_v2(db_);
}

Result<Statement> Connection::Prepare(std::string_view sql) {
  auto found = cache_.find(sql);
  if (found != cache_.end() && !found->second.in_use) {
    found->second.in_use = true;
    return Statement(found->second.statement, &found->second.in_use);
  }
  // The same text while its statement is in use (recursion): a second one that is not kept.
  const bool keep = found == cache_.end();
  if (keep && cache_.size() >= kStatementsMax) DropUnused();
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                      keep ? SQLITE_PREPARE_PERSISTENT : 0, &statement, nullptr);
  if (code != SQLITE_OK) return Failure(db_, code, sql);
  CHECK_MSG(statement != nullptr, std::string(sql));
  if (!keep) return Statement(statement, nullptr);
  Cached& cached = cache_[std::string(sql)];
  cached = Cached{statement, true};
  return Statement(statement, &cached.in_use);
}

void Connection::DropUnused() {
  std::erase_if(cache_, [](const auto& entry) {
    if (entry.second.in_use) return false;
    sqlite3_finalize(entry.second.statement);
    return true;
  });
}

Status Connection::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Failure(db_, code, sql);
  return {};
}

std::int64_t Connection::LastInsertRowId() const { return sqlite3_last_insert_rowid(db_); }
std::int64_t Connection::Changes() const { return sqlite3_changes64(db_); }
bool Connection::InTransaction() const { return sqlite3_get_autocommit(db_) == 0; }

}  // namespace sabia::store
