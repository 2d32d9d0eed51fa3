// Goal: SIGKILL at any moment loses no acknowledged object and shows no half of one.
// Method: a child process puts, overwrites, deletes, copies and joins in a loop and writes one line
// to a pipe per acknowledged call; it is killed at a random moment; the parent reopens the store
// and compares. Before that, files whose bytes the store promises to have elsewhere are torn, as a
// loss of power may leave them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "objects/fresh_index.h"
#include "objects/schema.h"
#include "objects/testing/store_fixture.h"
#include "store/database.h"

namespace sabia::objects {
namespace {

constexpr int kThreads = 4;
constexpr int kKeysPerThread = 6;

// Every so many calls of a thread go on to an upload of two parts, the first of them large.
bool IsLarge(int generation) { return generation % 40 == 39; }

// Each generation of a key has its own bytes, long enough to be torn: small objects, some that are
// not, and a few that two parts make.
std::string DataOf(std::string_view key, int generation) {
  const std::size_t size = IsLarge(generation)   ? kPartBytesMin + 20'000
                           : generation % 3 == 0 ? 40'000
                                                 : 20'000;
  const std::string line = fmt::format("{}#{};", key, generation);
  std::string out;
  out.reserve(size + line.size());
  while (out.size() < size) out += line;
  return out;
}

class CrashTest : public testing::StoreFixture {
 protected:
  // Never returns. Lines: "key generation" after an acknowledged put; generation -1: deleted.
  [[noreturn]] void RunChild(int pipe) {
    store_.release();  // NOLINT: the parent's threads do not exist here; the files are all that
                       // counts
    env::ManualClock clock;
    env::PosixRandom random;
    auto store = ObjectStore::Open({.paths = paths_}, clock, random);
    if (!store) ::_exit(1);
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] { Work(**store, t, pipe); });
    }
    threads.clear();  // waits for ever
    ::_exit(0);
  }

  static void Say(int pipe, const std::string& key, int generation) {
    const std::string line = fmt::format("{} {}\n", key, generation);
    if (::write(pipe, line.data(), line.size()) < 0) ::_exit(1);  // atomic below PIPE_BUF
  }

  static Result<PartInfo> SendPart(ObjectStore& store, const UploadName& upload, int number,
                                   std::string_view data) {
    auto part = store.BeginPart(upload, number, data.size(), {ChecksumAlgorithm::kCrc32});
    if (!part || !(*part)->Write(data)) ::_exit(1);
    return store.PutPart(upload, number, std::move(*part));
  }

  static void Work(ObjectStore& store, int thread, int pipe) {
    for (int i = 0;; ++i) {
      const std::string key = fmt::format("t{}/k{}", thread, i % kKeysPerThread);
      if (i % 7 == 6) {
        if (store.Delete("b", key)) Say(pipe, key, -1);
        continue;
      }
      const std::string data = DataOf(key, i);
      if (IsLarge(i)) {
        const auto id = store.CreateMultipart("b", key, {});
        const auto head = SendPart(store, {"b", key, *id}, 1, data.substr(0, kPartBytesMin));
        const auto tail = SendPart(store, {"b", key, *id}, 2, data.substr(kPartBytesMin));
        if (head && tail && store.CompleteMultipart({"b", key, *id}, {*head, *tail})) {
          Say(pipe, key, i);
        }
        continue;
      }
      auto upload = store.BeginUpload();
      if (!upload || !(*upload)->Write(data)) ::_exit(1);
      if (i % 5 == 4) {
        const auto id = store.CreateMultipart("b", key, {});
        const auto part = store.PutPart({"b", key, *id}, 1, std::move(*upload));
        if (part && store.CompleteMultipart({"b", key, *id}, {*part})) Say(pipe, key, i);
      } else if (store.Put("b", key, std::move(*upload), {})) {
        Say(pipe, key, i);
      }
    }
  }

  // Reads acknowledged calls until the child has made `calls`, kills it, reads the rest.
  std::map<std::string, int> KillAfter(int calls, pid_t child, int pipe) {
    std::string text;
    char buffer[4096];
    bool killed = false;
    while (true) {
      if (!killed && std::count(text.begin(), text.end(), '\n') >= calls) {
        ::kill(child, SIGKILL);
        killed = true;
      }
      const ssize_t n = ::read(pipe, buffer, sizeof buffer);
      if (n <= 0) break;
      text.append(buffer, static_cast<std::size_t>(n));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child failed by itself";
    std::map<std::string, int> acknowledged;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t space = text.find(' ', at), end = text.find('\n', at);
      if (space == std::string::npos || end == std::string::npos) break;
      acknowledged[text.substr(at, space - at)] = std::stoi(text.substr(space + 1, end - space));
      at = end + 1;
    }
    return acknowledged;
  }

  // Half of the file is lost, or all of it, or it is not where it was moved to.
  void TearFreshFiles() {
    auto database =
        store::Database::Open({.path = paths_.objects_db(), .migrations = index::Migrations()});
    ASSERT_TRUE(database);
    std::set<std::string> fresh;
    ASSERT_TRUE((*database)->Read([&](store::Connection& connection) -> Status {
      ASSIGN_OR_RETURN(fresh, index::FreshBlobs(connection));
      return {};
    }));
    int turn = 0;
    for (const std::string& id : fresh) {
      std::error_code ec;
      switch (++turn % 4) {
        case 0:
          std::filesystem::resize_file(paths_.blob(id), 10'000, ec);
          break;
        case 1:
          std::filesystem::remove(paths_.blob(id), ec);
          break;
        case 2:
          std::filesystem::rename(paths_.blob(id), paths_.blobs_tmp() / id, ec);
          std::filesystem::resize_file(paths_.blobs_tmp() / id, 0, ec);
          break;
        default:
          break;
      }
    }
  }

  // Every upload that is left can still be completed from the parts that were acknowledged.
  void CompleteUploads() {
    const auto uploads = store_->ListMultiparts("b", {});
    ASSERT_TRUE(uploads);
    for (const MultipartInfo& upload : uploads->uploads) {
      const UploadName name{"b", upload.key, upload.upload_id};
      const auto parts = store_->ListParts(name);
      ASSERT_TRUE(parts);
      if (parts->empty()) continue;
      ASSERT_TRUE(store_->CompleteMultipart(name, *parts));
      const std::string data = Read("b", upload.key);
      const std::size_t hash = data.find('#');
      ASSERT_NE(hash, std::string::npos) << upload.key;
      const std::string whole = DataOf(upload.key, std::stoi(data.substr(hash + 1)));
      const bool all = parts->size() == 2 || whole.size() < kPartBytesMin;
      EXPECT_EQ(data == (all ? whole : whole.substr(0, kPartBytesMin)), true) << upload.key;
    }
  }

  void Check(const std::map<std::string, int>& acknowledged) {
    EXPECT_EQ(TemporaryFiles(), 0U);
    const auto listing = store_->List("b", {});
    ASSERT_TRUE(listing);
    std::set<std::string> present;
    for (const ObjectInfo& object : listing->objects) {
      present.insert(object.key);
      const std::string data = Read("b", object.key);
      const std::size_t hash = data.find('#');
      ASSERT_NE(hash, std::string::npos) << object.key;
      const int generation = std::stoi(data.substr(hash + 1));
      EXPECT_EQ(data == DataOf(object.key, generation), true) << object.key << " is torn";
      const auto known = acknowledged.find(object.key);
      const int at_least = known == acknowledged.end() ? 0 : known->second;
      EXPECT_GE(generation, at_least) << "lost an overwrite of " << object.key;
    }
    // A thread has one call in flight: an absent key must have been deleted, or its deletion was
    // under way, which is every seventh call of its thread.
    for (const auto& [key, generation] : acknowledged) {
      if (generation < 0 || present.contains(key)) continue;
      EXPECT_EQ((generation + kKeysPerThread) % 7, 6) << key << " generation " << generation;
    }
  }
};

TEST_F(CrashTest, AcknowledgedObjectsSurviveSigkill) {
  ASSERT_TRUE(store_->CreateBucket("b"));
  store_.reset();
  env::SeededRandom moments(20240607);
  for (int round = 0; round < 6; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      RunChild(ends[1]);
    }
    ::close(ends[1]);
    const auto acknowledged = KillAfter(static_cast<int>(20 + moments.Below(200)), child, ends[0]);
    ::close(ends[0]);
    TearFreshFiles();
    Reopen();
    Check(acknowledged);
    CompleteUploads();
    // The next round starts from nothing, so that generations compare.
    const auto left = store_->List("b", {});
    for (const ObjectInfo& object : left->objects) ASSERT_TRUE(store_->Delete("b", object.key));
    const auto uploads = store_->ListMultiparts("b", {});
    for (const MultipartInfo& upload : uploads->uploads) {
      ASSERT_TRUE(store_->AbortMultipart({"b", upload.key, upload.upload_id}));
    }
    while (BlobFiles() != 0) std::this_thread::yield();  // every file had a row or an entry
    store_.reset();
  }
}

}  // namespace
}  // namespace sabia::objects
