// The object engine without HTTP: small durable PUTs beside bare SQLite commits and bare fsyncs on
// the same disk, GETs, and listings of a million keys. One JSON object per line.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_random.h"
#include "objects/object_index.h"
#include "objects/object_store.h"
#include "objects/schema.h"
#include "store/database.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kSmall = 4096;

struct Bench {
  env::PosixClock clock;
  env::PosixRandom random;
  env::Path home;
  std::unique_ptr<ObjectStore> store;

  void Open() {
    auto opened = ObjectStore::Open({.paths = store::Paths(home)}, clock, random);
    CHECK_MSG(opened.has_value(), opened.error().message);
    store = std::move(*opened);
  }
};

double SecondsOf(Bench& bench, const std::function<void()>& work) {
  const MonoTime start = bench.clock.Mono();
  work();
  return std::chrono::duration<double>(bench.clock.Mono() - start).count();
}

void Report(std::string_view name, int threads, double per_second) {
  std::printf("{\"bench\":\"%.*s\",\"threads\":%d,\"per_second\":%.0f}\n",
              static_cast<int>(name.size()), name.data(), threads, per_second);
}

// Calls the work `total` times, shared out over the threads.
double Rate(Bench& bench, int threads, int total, const std::function<void(int)>& work) {
  std::atomic<int> next{0};
  const double seconds = SecondsOf(bench, [&] {
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&] {
        for (int i = next++; i < total; i = next++) work(i);
      });
    }
  });
  return total / seconds;
}

void SmallObjects(Bench& bench, int total) {
  CHECK(bench.store->CreateBucket("bench").has_value());
  const std::string data(kSmall, 'x');
  for (const int threads : {1, 8, 32}) {
    Report(
        "put_4k", threads, Rate(bench, threads, total, [&](int i) {
          auto upload = bench.store->BeginUpload();
          CHECK(upload && (*upload)->Write(data));
          CHECK(bench.store->Put("bench", fmt::format("{}/{}", threads, i), std::move(*upload), {})
                    .has_value());
        }));
    Report("get_4k", threads, Rate(bench, threads, total * 10, [&](int i) {
             const auto opened =
                 bench.store->Get("bench", fmt::format("{}/{}", threads, i % total));
             char buffer[kSmall];
             CHECK(opened && ::pread(opened->fd.get(), buffer, kSmall, 0) == kSmall);
           }));
  }
}

// What the disk allows: a new file of 4 KiB and its fsync, per thread; and a group commit of one
// small row each.
void Limits(Bench& bench, int total) {
  const std::string data(kSmall, 'x');
  auto database = store::Database::Open(
      {.path = bench.home / "limit.db", .migrations = {"CREATE TABLE t (k INTEGER, v TEXT)"}});
  CHECK(database.has_value());
  for (const int threads : {1, 8, 32}) {
    Report("limit_fsync_4k", threads, Rate(bench, threads, total, [&](int i) {
             const env::Path path = bench.home / fmt::format("limit-{}-{}", threads, i);
             auto fd = env::OpenFile(path, O_WRONLY | O_CREAT, 0644);
             CHECK(fd && env::WriteAll(fd->get(), data) && ::fsync(fd->get()) == 0);
             ::unlink(path.c_str());
           }));
    Report("limit_commit", threads, Rate(bench, threads, total, [&](int i) {
             CHECK((*database)
                       ->Write([&](store::Connection& connection) {
                         return connection.Run("INSERT INTO t (k, v) VALUES (?, ?)", i, "v");
                       })
                       .has_value());
           }));
  }
}

// Rows only, as a million PUTs would take a while and a listing reads nothing else.
void FillIndex(Bench& bench, int keys) {
  auto database = store::Database::Open(
      {.path = store::Paths(bench.home).objects_db(), .migrations = index::Migrations()});
  CHECK(database.has_value());
  for (int done = 0; done < keys;) {
    CHECK((*database)
              ->Write([&](store::Connection& connection) -> Status {
                ASSIGN_OR_RETURN(const auto bucket, index::FindBucket(connection, "million"));
                index::ObjectWriter writer(connection, bucket, bench.random);
                for (int i = 0; i < 10'000 && done < keys; ++i, ++done) {
                  ObjectInfo object;
                  object.key = fmt::format("data/part-{:03}/file-{:07}.bin", done % 1000, done);
                  object.size = kSmall;
                  object.etag = std::string(32, 'e');
                  object.blob_id = fmt::format("{:032x}", done);
                  object.checksums = {{"crc32", "AAAAAA=="}};
                  RETURN_IF_ERROR(writer.Write(object, {}));
                }
                return {};
              })
              .has_value());
  }
}

void Listings(Bench& bench, int keys) {
  CHECK(bench.store->CreateBucket("million").has_value());
  bench.store.reset();
  FillIndex(bench, keys);
  std::printf("{\"bench\":\"open_store\",\"keys\":%d,\"seconds\":%.3f}\n", keys,
              SecondsOf(bench, [&] { bench.Open(); }));
  const auto list = [&](std::string_view name, const ListOptions& base) {
    constexpr int kRounds = 200;
    std::vector<double> times;
    for (int i = 0; i < kRounds; ++i) {
      ListOptions options = base;
      if (options.start_after == "random") {
        options.start_after = fmt::format("data/part-{:03}/", bench.random.Below(999));
      }
      times.push_back(SecondsOf(bench, [&] { CHECK(bench.store->List("million", options)); }));
    }
    std::sort(times.begin(), times.end());
    std::printf("{\"bench\":\"%s\",\"keys\":%d,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n", name.data(),
                keys, times[kRounds / 2] * 1e3, times[kRounds * 99 / 100] * 1e3);
  };
  list("list_1000_keys", {.start_after = "random"});
  list("list_1000_prefixes", {.prefix = "data/", .delimiter = "/"});
  list("list_1_prefix", {.delimiter = "/"});
}

}  // namespace
}  // namespace sabia::objects

int main(int argc, char** argv) {
  std::string home;
  int puts = 5000, keys = 1'000'000;
  CLI::App app{"Measures the object engine", "objects_bench"};
  app.add_option("--home", home, "An empty directory")->required();
  app.add_option("--puts", puts);
  app.add_option("--keys", keys);
  CLI11_PARSE(app, argc, argv);
  sabia::objects::Bench bench;
  bench.home = home;
  bench.Open();
  sabia::objects::SmallObjects(bench, puts);
  sabia::objects::Limits(bench, puts);
  sabia::objects::Listings(bench, keys);
  return 0;
}
