// Goal: a commit that was acknowledged survives kill -9 at any moment, and no commit is there in
// part. Method: a child process commits from several threads, each commit two resources, a tag and
// a line of the ledger, and prints a name when its commit returned. It is killed after a random
// number of names. Several lives over one home.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <thread>

#include "env/posix/posix_files.h"
#include "env/random.h"
#include "env/testing/temporary_directory.h"
#include "store/ledger.h"
#include "store/resources.h"
#include "store/state.h"

namespace sabia::store {
namespace {

constexpr int kThreads = 4;

Change Insert(Kind kind, const std::string& name) {
  Change change;
  change.resource = {.kind = kind, .name = name, .document = std::string(3000, 'd')};
  change.arn = "arn:" + name;
  change.tags = {{"k", name}};
  if (kind == Kind::kTrainingJob) change.ledger.push_back({.instance = name + "-1-1"});
  return change;
}

// Runs in the child until it is killed.
[[noreturn]] void CommitForEver(const Paths& paths, int life, int out) {
  auto database = OpenState(paths);
  if (!database) ::_exit(1);
  Resources resources(**database);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0;; ++i) {
        const std::string name = fmt::format("{}-{}-{}", life, t, i);
        if (!resources.Commit({Insert(Kind::kTrainingJob, name), Insert(Kind::kInstance, name)})) {
          ::_exit(2);
        }
        // One write below PIPE_BUF: names of several threads do not mix.
        if (!env::WriteAll(out, name + "\n")) ::_exit(3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ::_exit(4);
}

// The names that the child printed before it died.
std::vector<std::string> RunOneLife(const Paths& paths, int life, std::size_t names) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) CommitForEver(paths, life, ends[1]);
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  bool killed = false;
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (!killed && lines >= names) killed = ::kill(child, SIGKILL) == 0;
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
  std::vector<std::string> out;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    out.push_back(text.substr(at, end - at));
  }
  return out;
}

TEST(Durability, AcknowledgedCommitsSurviveKillNine) {
  const env::TemporaryDirectory dir;
  const Paths paths(dir.path());
  env::SeededRandom random(11);
  std::set<std::string> acknowledged;
  for (int life = 0; life < 8; ++life) {
    std::vector<std::string> names = RunOneLife(paths, life, 1 + random.Below(60));
    for (std::string& name : names) {
      acknowledged.insert(std::move(name));
    }
    auto database = OpenState(paths);
    ASSERT_TRUE(database) << database.error().message;
    Resources resources(**database);
    const auto jobs = resources.Live(Kind::kTrainingJob).value();
    const auto instances = resources.Live(Kind::kInstance).value();
    std::set<std::string> stored;
    for (const Resource& job : jobs) {
      stored.insert(job.name);
      ASSERT_EQ(job.document.size(), 3000u);
      ASSERT_EQ(resources.GetTags("arn:" + job.name).value(), (Tags{{"k", job.name}}));
      ASSERT_TRUE(resources.Get(Kind::kInstance, job.name)) << "half of a commit: " << job.name;
      ASSERT_EQ(Ledger(**database).OfJob(job.name).value().size(), 1u) << job.name;
    }
    ASSERT_EQ(jobs.size(), instances.size());
    for (const std::string& name : acknowledged) ASSERT_TRUE(stored.contains(name)) << name;
  }
  EXPECT_GE(acknowledged.size(), 8u);
}

}  // namespace
}  // namespace sabia::store
