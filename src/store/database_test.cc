#include "store/database.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::store {
namespace {

class DatabaseTest : public ::testing::Test {
 protected:
  env::Path file() const { return dir_.path() / "x.db"; }
  std::unique_ptr<Database> Open(std::size_t batch_limit = 1024) {
    auto opened =
        Database::Open({.path = file(),
                        .migrations = {"CREATE TABLE t(k TEXT PRIMARY KEY, v ANY) STRICT"},
                        .batch_limit = batch_limit});
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  static Status Insert(Database& db, std::string_view key) {
    return db.Write([&](Connection& c) { return c.Run("INSERT INTO t VALUES(?, 1)", key); });
  }
  static std::int64_t Count(Database& db) {
    std::int64_t count = -1;
    const Status read = db.Read([&](Connection& c) -> Status {
      ASSIGN_OR_RETURN(Statement s, c.Prepare("SELECT count(*) FROM t"));
      RETURN_IF_ERROR(s.Step());
      count = s.Int(0);
      return {};
    });
    EXPECT_TRUE(read);
    return count;
  }
  env::TemporaryDirectory dir_;
};

TEST_F(DatabaseTest, WritesSurviveReopeningAndTheFileIsPrivate) {
  {
    auto db = Open();
    ASSERT_TRUE(Insert(*db, "a"));
  }
  auto db = Open();
  EXPECT_EQ(Count(*db), 1);
  struct stat info {};
  ASSERT_EQ(::stat(file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DatabaseTest, ValuesOfEveryTypeComeBack) {
  auto db = Open();
  const std::string bytes("\0\xff\0", 3);
  const std::optional<std::string> nothing;
  ASSERT_TRUE(db->Write([&](Connection& c) -> Status {
    RETURN_IF_ERROR(c.Run("INSERT INTO t VALUES(?, ?)", "int", std::int64_t{-9'000'000'000}));
    RETURN_IF_ERROR(c.Run("INSERT INTO t VALUES(?, ?)", "double", 0.5));
    RETURN_IF_ERROR(c.Run("INSERT INTO t VALUES(?, ?)", "text", std::string_view("é\n")));
    RETURN_IF_ERROR(c.Run("INSERT INTO t VALUES(?, ?)", "blob", BlobView{bytes}));
    RETURN_IF_ERROR(c.Run("INSERT INTO t VALUES(?, ?)", "empty", std::string_view()));
    return c.Run("INSERT INTO t VALUES(?, ?)", "null", nothing);
  }));
  ASSERT_TRUE(db->Read([&](Connection& c) -> Status {
    ASSIGN_OR_RETURN(Statement s, c.Prepare("SELECT v FROM t WHERE k = ?"));
    EXPECT_TRUE(s.BindAll("int").Step().value());
    EXPECT_EQ(s.Int(0), -9'000'000'000);
    s.Reset();
    EXPECT_TRUE(s.BindAll("double").Step().value());
    EXPECT_EQ(s.Double(0), 0.5);
    s.Reset();
    EXPECT_TRUE(s.BindAll("text").Step().value());
    EXPECT_EQ(s.Text(0), "é\n");
    s.Reset();
    EXPECT_TRUE(s.BindAll("blob").Step().value());
    EXPECT_EQ(s.Blob(0), bytes);
    s.Reset();
    EXPECT_TRUE(s.BindAll("empty").Step().value());
    EXPECT_FALSE(s.IsNull(0));
    s.Reset();
    EXPECT_TRUE(s.BindAll("null").Step().value());
    EXPECT_TRUE(s.IsNull(0));
    return {};
  }));
}

TEST_F(DatabaseTest, ErrorsTellWhatTheCallerCanDo) {
  auto db = Open();
  ASSERT_TRUE(Insert(*db, "a"));
  EXPECT_EQ(Insert(*db, "a").error().code, ErrorCode::kAlreadyExists);
  const Status bad_sql = db->Write([](Connection& c) { return c.Run("SELECT nonsense"); });
  EXPECT_EQ(bad_sql.error().code, ErrorCode::kInternal);
  const Status bad_bind =
      db->Write([](Connection& c) { return c.Run("SELECT ? WHERE 0", 1, "too many"); });
  EXPECT_EQ(bad_bind.error().code, ErrorCode::kInternal);
  const Status read_only = db->Read([](Connection& c) { return c.Run("DELETE FROM t"); });
  EXPECT_EQ(read_only.error().code, ErrorCode::kDenied);
  const Status own =
      db->Write([](Connection&) -> Status { return Fail(ErrorCode::kConflict, "moved"); });
  EXPECT_EQ(own.error().message, "moved");
  EXPECT_EQ(Count(*db), 1);
}

TEST_F(DatabaseTest, TheSameStatementMayBeInUseTwice) {
  auto db = Open();
  ASSERT_TRUE(Insert(*db, "a"));
  ASSERT_TRUE(Insert(*db, "b"));
  ASSERT_TRUE(db->Read([&](Connection& c) -> Status {
    ASSIGN_OR_RETURN(Statement outer, c.Prepare("SELECT k FROM t ORDER BY k"));
    EXPECT_TRUE(outer.Step().value());
    ASSIGN_OR_RETURN(Statement inner, c.Prepare("SELECT k FROM t ORDER BY k"));
    EXPECT_TRUE(inner.Step().value());
    EXPECT_TRUE(inner.Step().value());
    EXPECT_EQ(outer.Text(0), "a");
    EXPECT_EQ(inner.Text(0), "b");
    return {};
  }));
}

TEST_F(DatabaseTest, ManyTextsDoNotFillMemory) {
  auto db = Open();
  ASSERT_TRUE(db->Read([&](Connection& c) -> Status {
    for (int i = 0; i < 1000; ++i) RETURN_IF_ERROR(c.Run(fmt::format("SELECT {}", i)));
    return {};
  }));
}

TEST_F(DatabaseTest, AFileOfANewerVersionIsRefused) {
  Open();
  const auto opened = Database::Open({.path = file()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(opened.error().message.find("newer"), std::string::npos);
}

TEST_F(DatabaseTest, AnOlderFileIsMigratedAndAFailedStepLeavesItsVersion) {
  Open();
  std::vector<std::string> steps = {"-- the first step is already done",
                                    "CREATE TABLE u(a); CREATE TABLE u(a)"};
  EXPECT_FALSE(Database::Open({.path = file(), .migrations = steps}));
  steps[1] = "CREATE TABLE u(a)";
  auto db = Database::Open({.path = file(), .migrations = steps});
  ASSERT_TRUE(db) << db.error().message;
  EXPECT_TRUE((*db)->Read([](Connection& c) { return c.Run("SELECT a FROM u"); }));
}

TEST_F(DatabaseTest, AForeignFileIsCorrupt) {
  ASSERT_TRUE(env::PosixFiles().WriteAtomically(file(), std::string(8192, 'x'), {}));
  const auto opened = Database::Open({.path = file()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
}

// Goal: callers share commits, and a failing piece takes nobody with it.
TEST_F(DatabaseTest, ThirtyTwoCallersShareCommitsAndFailAlone) {
  for (const std::size_t batch_limit : {1UL, 3UL, 1024UL}) {
    auto db = Open(batch_limit);
    const std::int64_t before = Count(*db);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 32; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const bool fail = i % 4 == 3;
          const std::string key = fmt::format("{}-{}-{}", batch_limit, t, i);
          const Status done = db->Write([&](Connection& c) -> Status {
            RETURN_IF_ERROR(c.Run("INSERT INTO t VALUES(?, 1)", key));
            if (fail) return Fail(ErrorCode::kConflict, "as told");
            return {};
          });
          if (done.has_value() == fail) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(Count(*db) - before, 32 * 15);
  }
}

// Goal: writes that nobody waits for share commits with those that somebody does, each is answered
// once, after it can be read, and a failing piece takes nobody with it.
TEST_F(DatabaseTest, WritesWithoutWaitingAreAnsweredWhenTheyAreThere) {
  constexpr int kCallers = 8;
  constexpr int kWrites = 50;
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  auto db = Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < kCallers; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kWrites; ++i) {
        const bool fail = i % 7 == 3;
        db->WriteLater(
            [=](Connection& c) -> Status {
              RETURN_IF_ERROR(c.Run("INSERT INTO t VALUES(?, 1)", fmt::format("{}-{}", t, i)));
              if (fail) return Fail(ErrorCode::kConflict, "as told");
              return {};
            },
            [&, fail](const Status& status) {
              if (status.has_value() == fail) ++wrong;
              ++answered;
            });
        if (i % 10 == 0 && !Insert(*db, fmt::format("waited-{}-{}", t, i))) ++wrong;
      }
      // Behind all that this caller has written, in order.
      if (!Insert(*db, fmt::format("last-{}", t))) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, kCallers * kWrites);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Count(*db), kCallers * (kWrites - 7 + 5 + 1));
}

TEST_F(DatabaseTest, ReadersSeeASnapshotWhileWritesGoOn) {
  auto db = Open();
  ASSERT_TRUE(Insert(*db, "a"));
  ASSERT_TRUE(db->Read([&](Connection& c) -> Status {
    ASSIGN_OR_RETURN(Statement count, c.Prepare("SELECT count(*) FROM t"));
    RETURN_IF_ERROR(count.Step());
    EXPECT_EQ(count.Int(0), 1);
    count.Reset();
    EXPECT_TRUE(Insert(*db, "b"));
    RETURN_IF_ERROR(count.Step());
    EXPECT_EQ(count.Int(0), 1);
    return {};
  }));
  EXPECT_EQ(Count(*db), 2);
}

// Goal: a full disk is an error for those who write, and the database goes on when there is room
// again.
TEST_F(DatabaseTest, AFullDiskIsAnErrorAndTheDatabaseStaysUsable) {
  auto db = Open();
  ASSERT_TRUE(db->Write([](Connection& c) { return c.Execute("PRAGMA max_page_count=20"); }));
  const std::string big(40'000, 'x');
  int stored = 0;
  Status last;
  for (int i = 0; i < 10 && last; ++i) {
    last = db->Write(
        [&](Connection& c) { return c.Run("INSERT INTO t VALUES(?, ?)", std::to_string(i), big); });
    if (last) ++stored;
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(Count(*db), stored);
  ASSERT_TRUE(db->Write([](Connection& c) { return c.Execute("PRAGMA max_page_count=100000"); }));
  ASSERT_TRUE(db->Write([&](Connection& c) { return c.Run("INSERT INTO t VALUES('z', ?)", big); }));
  EXPECT_EQ(Count(*db), stored + 1);
}

// Goal: when the log itself cannot grow, the commits that failed left no trace and later ones
// succeed. Method: a child process limits the size of its files, so that writing the log fails in
// mid-commit.
TEST_F(DatabaseTest, ALogThatCannotGrowFailsCommitsAndRecovers) {
  const auto child = [this] {
    ::signal(SIGXFSZ, SIG_IGN);
    auto db = Open();
    const std::string big(40'000, 'x');
    const auto insert = [&](int i) {
      return db->Write([&](Connection& c) {
        return c.Run("INSERT INTO t VALUES(?, ?)", std::to_string(i), big);
      });
    };
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = 300'000;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int stored = 0;
    Status last;
    for (int i = 0; i < 100 && last; ++i) {
      last = insert(i);
      if (last) ++stored;
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    if (last || stored == 0) return 1;
    if (last.error().code != ErrorCode::kIo) return 2;
    if (Count(*db) != stored) return 3;
    if (!insert(1000)) return 4;
    db.reset();
    return Count(*Open()) == stored + 1 ? 0 : 5;
  };
  EXPECT_EXIT(::_exit(child()), ::testing::ExitedWithCode(0), "");
}

TEST_F(DatabaseTest, TheLogIsCopiedBackAndDoesNotGrowWithoutBound) {
  auto db = Open();
  const std::string big(100'000, 'x');
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(db->Write([&](Connection& c) {
      return c.Run("INSERT OR REPLACE INTO t VALUES(?, ?)", std::to_string(i % 10), big);
    }));
  }
  // 100 MB went through; the hard limit is 32 MiB and one batch of slack.
  EXPECT_LT(std::filesystem::file_size(dir_.path() / "x.db-wal"), std::uintmax_t{48} << 20);
}

}  // namespace
}  // namespace sabia::store
