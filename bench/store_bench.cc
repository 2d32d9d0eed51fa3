// The store against SQLite itself, and against a million finished jobs.
//
// Rounds are interleaved and the ratio of each round is taken, so that a machine that changes its
// speed changes both. The peer is one connection that commits one row per transaction: WAL,
// synchronous=FULL, prepared statement.
#include <sqlite3.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "env/posix/posix_clock.h"
#include "env/random.h"
#include "store/resources.h"
#include "store/state.h"

namespace sabia {
namespace {

using store::Change;
using store::Kind;
using store::ListQuery;
using store::Resource;

// About the document of a training job with two channels.
const std::string kDocument(2400, 'd');
constexpr double kRoundSeconds = 1;

env::PosixClock g_clock;

double Now() { return static_cast<double>(g_clock.Mono().time_since_epoch().count()) / 1e9; }

template <typename T>
T Must(Result<T> result) {
  CHECK_MSG(result.has_value(), result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Quantile(std::vector<double>& values, double q) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(q * static_cast<double>(values.size())))];
}

Change NewJob(std::string name, std::int64_t at) {
  Change change;
  change.resource = {.name = std::move(name),
                     .status = "InProgress",
                     .created = FromUnixMillis(at),
                     .modified = FromUnixMillis(at),
                     .document = kDocument};
  return change;
}

// Commits per second of plain SQLite.
class RawSqlite {
 public:
  explicit RawSqlite(const std::filesystem::path& file) {
    CHECK(sqlite3_open(file.c_str(), &db_) == SQLITE_OK);
    Run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE, document TEXT)");
    CHECK(sqlite3_prepare_v2(db_, "INSERT INTO t(name, document) VALUES(?, ?)", -1, &insert_,
                             nullptr) == SQLITE_OK);
  }
  ~RawSqlite() {
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
  }
  double Rate() {
    const double begin = Now();
    int done = 0;
    for (; Now() - begin < kRoundSeconds; ++done) {
      const std::string name = fmt::format("job-{}", next_++);
      sqlite3_bind_text(insert_, 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
      sqlite3_bind_text(insert_, 2, kDocument.data(), static_cast<int>(kDocument.size()),
                        SQLITE_STATIC);
      CHECK(sqlite3_step(insert_) == SQLITE_DONE);
      sqlite3_reset(insert_);
    }
    return done / (Now() - begin);
  }

 private:
  void Run(const char* sql) {
    CHECK(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  int next_ = 0;
};

double CommitRate(store::Resources& resources, int clients) {
  static std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};
  const double begin = Now();
  std::vector<std::thread> threads;
  for (int t = 0; t < clients; ++t) {
    threads.emplace_back([&] {
      while (Now() - begin < kRoundSeconds) {
        const std::int64_t n = next++;
        Must(resources.Commit({NewJob(fmt::format("bench-{}", n), n)}));
        ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(done) / (Now() - begin);
}

void BenchCommits(const std::filesystem::path& dir, int rounds) {
  RawSqlite raw(dir / "raw.db");
  const store::Paths paths(dir / "commits");
  std::filesystem::create_directories(paths.home());
  const auto database = Must(store::OpenState(paths));
  store::Resources resources(*database);
  std::vector<double> raws, ones, many, one_ratio, many_ratio;
  for (int round = 0; round < rounds; ++round) {
    raws.push_back(raw.Rate());
    ones.push_back(CommitRate(resources, 1));
    many.push_back(CommitRate(resources, 32));
    one_ratio.push_back(ones.back() / raws.back());
    many_ratio.push_back(many.back() / raws.back());
  }
  const auto spread = [](std::vector<double> v) {
    return fmt::format("{:.2f} [{:.2f} to {:.2f}]", Median(v),
                       *std::min_element(v.begin(), v.end()),
                       *std::max_element(v.begin(), v.end()));
  };
  fmt::print("| durable commits | per second | ratio to SQLite |\n|---|---|---|\n");
  fmt::print("| SQLite {}, one transaction per row | {:.0f} | 1 |\n", sqlite3_libversion(),
             Median(raws));
  fmt::print("| store, 1 client | {:.0f} | {} |\n", Median(ones), spread(one_ratio));
  fmt::print("| store, 32 clients | {:.0f} | {} |\n\n", Median(many), spread(many_ratio));
}

std::string JobName(std::int64_t i) {
  // Neighbours in time are not neighbours in name.
  return fmt::format("job-{:08x}", static_cast<std::uint32_t>(i) * 2654435761u);
}

void Fill(store::Resources& resources, std::int64_t rows) {
  constexpr std::int64_t kBatch = 2000;
  const double begin = Now();
  for (std::int64_t first = 0; first < rows; first += kBatch) {
    std::vector<Change> changes;
    for (std::int64_t i = first; i < std::min(rows, first + kBatch); ++i) {
      Change change = NewJob(JobName(i), 1'600'000'000'000 + i * 30'000);
      change.resource.modified += Millis(1'000'000 + (i * 7919) % 5'000'000);
      change.resource.live = false;
      // One in fifty failed, one in ten thousand was stopped.
      change.resource.status = i % 10'000 == 0 ? "Stopped" : i % 50 == 0 ? "Failed" : "Completed";
      changes.push_back(std::move(change));
    }
    Must(resources.Commit(changes));
  }
  fmt::print("filled {} jobs in {:.0f} s\n\n", rows, Now() - begin);
}

void BenchGet(store::Resources& resources, std::int64_t rows) {
  env::SeededRandom random(1);
  std::vector<double> micros;
  for (int i = 0; i < 100'000; ++i) {
    const std::string name =
        JobName(static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(rows))));
    const double begin = Now();
    Must(resources.Get(Kind::kTrainingJob, name));
    micros.push_back((Now() - begin) * 1e6);
  }
  const double p99 = Quantile(micros, 0.99);
  fmt::print("| Get by name, random | p50 {:.1f} us | p99 {:.1f} us | max {:.0f} us |\n\n",
             Quantile(micros, 0.5), p99, micros.back());
}

void BenchList(store::Resources& resources, std::int64_t rows) {
  const auto at = [&](double part) {
    return FromUnixMillis(1'600'000'000'000 +
                          static_cast<std::int64_t>(part * static_cast<double>(rows)) * 30'000);
  };
  struct Filter {
    const char* name;
    void (*apply)(ListQuery&, WallTime early, WallTime late);
  };
  const Filter filters[] = {
      {"none", [](ListQuery&, WallTime, WallTime) {}},
      {"Status Completed", [](ListQuery& q, WallTime, WallTime) { q.status = "Completed"; }},
      {"Status Failed (2 %)", [](ListQuery& q, WallTime, WallTime) { q.status = "Failed"; }},
      {"Status Stopped (0.01 %)", [](ListQuery& q, WallTime, WallTime) { q.status = "Stopped"; }},
      {"Status InProgress (none)",
       [](ListQuery& q, WallTime, WallTime) { q.status = "InProgress"; }},
      {"Created in the middle half",
       [](ListQuery& q, WallTime early, WallTime late) {
         q.created_after = early;
         q.created_before = late;
       }},
      {"Created before all",
       [](ListQuery& q, WallTime, WallTime) { q.created_before = FromUnixMillis(1000); }},
      {"Modified after 3/4, Failed",
       [](ListQuery& q, WallTime, WallTime late) {
         q.modified_after = late;
         q.status = "Failed";
       }},
  };
  const char* sorts[] = {"Name", "CreationTime", "Status", "ModifiedTime"};
  fmt::print(
      "| List of 100 by | filter | rows of the first page | median ms | worst ms "
      "|\n|---|---|---|---|---|\n");
  for (int sort = 0; sort < 4; ++sort) {
    for (const Filter& filter : filters) {
      std::vector<double> millis;
      std::size_t first_page = 0;
      for (int descending = 0; descending < 2; ++descending) {
        ListQuery query{.limit = 100};
        query.sort_by = static_cast<ListQuery::SortBy>(sort);
        query.ascending = descending == 0;
        filter.apply(query, at(0.25), at(0.75));
        for (int page = 0; page < 20; ++page) {
          const double begin = Now();
          const store::Page got = Must(resources.List(query));
          millis.push_back((Now() - begin) * 1e3);
          if (page == 0) first_page = got.rows.size();
          if (got.next_token.empty()) break;
          query.token = got.next_token;
        }
      }
      fmt::print("| {} | {} | {} | {:.2f} | {:.2f} |\n", sorts[sort], filter.name, first_page,
                 Median(millis), *std::max_element(millis.begin(), millis.end()));
    }
  }
  fmt::print("\n");
}

void BenchMillion(const std::filesystem::path& dir, std::int64_t rows) {
  const store::Paths paths(dir / "million");
  std::filesystem::create_directories(paths.home());
  const auto clock = [&](const char* what, const auto& work) {
    const double begin = Now();
    work();
    fmt::print("{}: {:.3f} s\n", what, Now() - begin);
  };
  auto database = Must(store::OpenState(paths));
  auto resources = std::make_unique<store::Resources>(*database);
  if (!resources->Get(Kind::kTrainingJob, JobName(0))) Fill(*resources, rows);
  BenchGet(*resources, rows);
  BenchList(*resources, rows);
  resources.reset();
  clock("close", [&] { database.reset(); });
  clock("reopen, read what is live", [&] {
    database = Must(store::OpenState(paths));
    resources = std::make_unique<store::Resources>(*database);
    CHECK(Must(resources->Live(Kind::kTrainingJob)).empty());
  });
}

}  // namespace
}  // namespace sabia

int main(int argc, char** argv) {
  CLI::App app("Measures the store; prints tables in Markdown.");
  std::string dir;
  std::int64_t rows = 1'000'000;
  int rounds = 7;
  app.add_option("--dir", dir, "an empty directory on the disk to measure")->required();
  app.add_option("--rows", rows, "finished jobs for Get, List and reopening; 0: only commits");
  app.add_option("--rounds", rounds, "rounds of the comparison with SQLite; 0: none");
  CLI11_PARSE(app, argc, argv);
  if (rounds > 0) sabia::BenchCommits(dir, rounds);
  if (rows > 0) sabia::BenchMillion(dir, rows);
  return 0;
}
