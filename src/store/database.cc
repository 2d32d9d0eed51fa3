#include "store/database.h"

#include <sqlite3.h>

#include <utility>

#include "env/blocking.h"
#include "store/checkpointer.h"
#include "store/commit_queue.h"
#include "store/reader_pool.h"

namespace sabia::store {
namespace {

// As much as SQLite maps at most; pages behind it are read as before.
constexpr std::size_t kMapBytes = 0x7fff0000;

Result<std::int64_t> VersionOf(Connection& connection) {
  ASSIGN_OR_RETURN(Statement read, connection.Prepare("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const bool row, read.Step());
  return row ? read.Int(0) : 0;
}

// Each step and the version it leads to are one transaction: a crash leaves a file of one version
// or the next.
Status Migrate(Connection& connection, const DatabaseOptions& options) {
  ASSIGN_OR_RETURN(const std::int64_t version, VersionOf(connection));
  const auto known = static_cast<std::int64_t>(options.migrations.size());
  if (version < 0 || version > known) {
    return Fail(ErrorCode::kInvalidArgument,
                "'{}' has version {}, but this program knows versions up to {}: use a newer sabia",
                options.path.native(), version, known);
  }
  for (std::int64_t from = version; from < known; ++from) {
    const std::string& step = options.migrations[static_cast<std::size_t>(from)];
    Status done = connection.Execute(
        fmt::format("BEGIN IMMEDIATE; {}; PRAGMA user_version={}; COMMIT", step, from + 1));
    if (done) continue;
    if (connection.InTransaction()) (void)connection.Execute("ROLLBACK");
    return Wrap(done.error(),
                fmt::format("failed to bring '{}' to version {}", options.path.native(), from + 1));
  }
  return {};
}

}  // namespace

class Database::Impl {
 public:
  struct Parts {
    std::unique_ptr<Connection> writer;
    std::unique_ptr<Connection> copier;
    Connection::Options reader_options;
    std::size_t batch_limit;
  };
  explicit Impl(Parts parts)
      : writer_(std::move(parts.writer)),
        checkpointer_(std::move(parts.copier)),
        readers_(std::move(parts.reader_options)),
        queue_(*writer_, parts.batch_limit) {
    // Replaces SQLite's own hook, which would checkpoint inside a commit.
    sqlite3_wal_hook(writer_->handle(), &Impl::OnCommit, &checkpointer_);
  }

  CommitQueue& queue() { return queue_; }
  ReaderPool& readers() { return readers_; }

 private:
  static int OnCommit(void* checkpointer, sqlite3* db, const char* /*name*/, int pages) {
    static_cast<Checkpointer*>(checkpointer)->OnCommit(db, pages);
    return SQLITE_OK;
  }

  // Destroyed from the last to the first: the writer, as the last connection, folds the log into
  // the file.
  std::unique_ptr<Connection> writer_;
  Checkpointer checkpointer_;
  ReaderPool readers_;
  CommitQueue queue_;
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::Open(DatabaseOptions options) {
  const Connection::Options connection_options{.path = options.path,
                                               .cache_kib = options.cache_kib};
  Impl::Parts parts;
  ASSIGN_OR_RETURN(parts.writer, Connection::Open(connection_options));
  RETURN_IF_ERROR(
      parts.writer->Execute("PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=16777216"));
  RETURN_IF_ERROR(Migrate(*parts.writer, options));
  ASSIGN_OR_RETURN(parts.copier, Connection::Open(connection_options));
  RETURN_IF_ERROR(parts.copier->Execute("PRAGMA wal_autocheckpoint=0"));
  parts.reader_options = {.path = std::move(options.path),
                          .mode = Connection::Mode::kReadOnly,
                          .cache_kib = options.cache_kib,
                          .map_bytes = kMapBytes};
  parts.batch_limit = options.batch_limit;
  return std::unique_ptr<Database>(new Database(std::make_unique<Impl>(std::move(parts))));
}

Status Database::Write(const Work& work) {
  const env::BlockingScope blocking;
  return impl_->queue().Submit(work);
}

void Database::WriteLater(Work work, Done done) {
  impl_->queue().SubmitLater(std::move(work), std::move(done));
}

Status Database::Read(const Work& work) {
  ASSIGN_OR_RETURN(const ReaderPool::Loan reader, impl_->readers().Borrow());
  RETURN_IF_ERROR(reader->Run("BEGIN"));
  Status done = work(*reader);
  Status ended = reader->InTransaction() ? reader->Run("COMMIT") : Status{};
  return done ? ended : done;
}

}  // namespace sabia::store
