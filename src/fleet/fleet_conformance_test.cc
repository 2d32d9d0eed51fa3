#include "fleet/testing/fleet_conformance.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "fleet/posix/disk_instance_files.h"
#include "fleet/posix/fork_server.h"
#include "fleet/posix/local_launcher.h"
#include "fleet/posix/pidfd.h"
#include "fleet/testing/fake_fleet.h"

namespace sabia::fleet::testing {

void FleetConformance::Prepare(const std::string& id) {
  Preparation preparation;
  preparation.spec.id = id;
  preparation.spec.job_name = "job-" + id;
  preparation.spec.host = "algo-1";
  preparation.listings = {{"channel-0.jsonl", "{}\n"}};
  ASSERT_TRUE(rig_->files().Prepare(id, preparation));
}

bool FleetConformance::Reports(const std::string& id) {
  const auto seen = rig_->files().Observe(id, false);
  return seen && seen->report.has_value();
}

bool FleetConformance::Locked(const std::string& id) {
  const auto seen = rig_->files().Observe(id, false);
  return seen && seen->locked;
}

namespace {

constexpr char kId[] = "0123456789ab-1-1";

class FakeRig final : public Rig {
 public:
  FakeRig() { fleet_.SetProgram(std::string("job-") + kId, {.trains = Millis(1'000'000)}); }
  Launcher& launcher() override { return fleet_; }
  InstanceFiles& files() override { return fleet_; }
  bool Await(const std::function<bool()>& condition) override {
    constexpr int kTicks = 100;
    for (int i = 0; i < kTicks; ++i) {
      fleet_.Tick();
      if (condition()) return true;
      clock_.Advance(Millis(10));
    }
    return false;
  }
  void RestartDaemon() override { fleet_.DaemonDied(); }

 private:
  env::ManualClock clock_;
  FakeFleet fleet_{clock_};
};

// An agent in shell: takes the lock, reports, waits for orders to stop.
constexpr char kAgentScript[] = R"(
cd "$1" || exit 1
exec 9>lock
flock -x -w 1 9 || exit 3
printf '{"phase":"training","pid":%d}' $$ > report.tmp && mv report.tmp report.json
until grep -q requested orders.json 2>/dev/null; do sleep 0.02; done
printf '{"phase":"done","pid":%d}' $$ > report.tmp && mv report.tmp report.json
)";

class RealRig final : public Rig {
 public:
  RealRig() { RestartDaemon(); }
  ~RealRig() override {
    for (const std::string& id : files_.List().value_or(std::vector<std::string>{})) {
      const auto seen = files_.Observe(id, false);
      if (seen && seen->locked && seen->report) {
        (void)launcher_->Kill({id, files_.Directory(id)}, seen->report->pid);
        EXPECT_TRUE(Await([&] { return !env::IsLocked(files_.Directory(id) / "lock"); }));
      }
    }
  }
  Launcher& launcher() override { return *launcher_; }
  InstanceFiles& files() override { return files_; }
  bool Await(const std::function<bool()>& condition) override {
    constexpr Seconds kPatience{20};
    const MonoTime end = clock_.Mono() + kPatience;
    while (!condition()) {
      if (clock_.Mono() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void RestartDaemon() override {
    launcher_.reset();
    auto launcher = LocalLauncher::Create({.command = {"/bin/sh", "-c", kAgentScript, "agent"}});
    ASSERT_TRUE(launcher) << launcher.error().message;
    launcher_ = std::move(*launcher);
  }

 private:
  env::PosixClock clock_;
  env::TemporaryDirectory home_;
  env::PosixFiles disk_;
  DiskInstanceFiles files_{disk_, store::Paths(home_.path())};
  std::unique_ptr<LocalLauncher> launcher_;
};

TEST_P(FleetConformance, AStartedAgentRunsHoldsItsLockAndReports) {
  Prepare(kId);
  EXPECT_FALSE(Locked(kId));
  ASSERT_TRUE(rig_->launcher().Start(Agent(kId)));
  EXPECT_TRUE(rig_->launcher().Runs(kId));
  EXPECT_TRUE(rig_->Await([&] { return Reports(kId); }));
  EXPECT_TRUE(Locked(kId));
}

TEST_P(FleetConformance, StartingARunningAgentAgainIsSuccessAndChangesNothing) {
  Prepare(kId);
  ASSERT_TRUE(rig_->launcher().Start(Agent(kId)));
  ASSERT_TRUE(rig_->Await([&] { return Reports(kId); }));
  const auto before = rig_->files().Observe(kId, false)->report->ToJson();
  EXPECT_TRUE(rig_->launcher().Start(Agent(kId)));
  EXPECT_EQ(rig_->files().Observe(kId, false)->report->ToJson(), before);
}

TEST_P(FleetConformance, AnAgentToldToStopEndsAndTheListenerHears) {
  std::mutex mutex;
  std::set<std::string> ended;
  rig_->launcher().OnExit([&](const std::string& id) {
    const std::lock_guard lock(mutex);
    ended.insert(id);
  });
  Prepare(kId);
  ASSERT_TRUE(rig_->launcher().Start(Agent(kId)));
  ASSERT_TRUE(rig_->Await([&] { return Reports(kId); }));
  ASSERT_TRUE(rig_->files().Give(kId, {.stop = model::StopReason::kRequested}));
  EXPECT_TRUE(rig_->Await([&] {
    const std::lock_guard lock(mutex);
    return ended.contains(kId);
  }));
  EXPECT_FALSE(rig_->launcher().Runs(kId));
  const auto seen = rig_->files().Observe(kId, false);
  EXPECT_FALSE(seen->locked);
  EXPECT_EQ(seen->report->phase, model::AgentPhase::kDone);
  EXPECT_EQ(seen->orders->stop, model::StopReason::kRequested);
}

TEST_P(FleetConformance, AnAgentOutlivesTheDaemonAndIsFoundByItsLock) {
  Prepare(kId);
  ASSERT_TRUE(rig_->launcher().Start(Agent(kId)));
  ASSERT_TRUE(rig_->Await([&] { return Reports(kId); }));
  rig_->RestartDaemon();
  EXPECT_FALSE(rig_->launcher().Runs(kId));
  EXPECT_TRUE(Locked(kId));
  ASSERT_TRUE(rig_->launcher().Start(Agent(kId)))
      << "a second agent finds the lock taken, and goes";
  EXPECT_TRUE(rig_->Await([&] { return !rig_->launcher().Runs(kId); }));
  EXPECT_TRUE(Locked(kId));
}

TEST_P(FleetConformance, KillEndsAnAgentOfThisOrAnEarlierDaemon) {
  Prepare(kId);
  ASSERT_TRUE(rig_->launcher().Start(Agent(kId)));
  ASSERT_TRUE(rig_->Await([&] { return Reports(kId); }));
  rig_->RestartDaemon();
  const int pid = rig_->files().Observe(kId, false)->report->pid;
  EXPECT_TRUE(rig_->launcher().Kill(Agent(kId), pid));
  EXPECT_TRUE(rig_->Await([&] { return !Locked(kId); }));
  EXPECT_TRUE(rig_->launcher().Kill(Agent(kId), pid)) << "gone already is success";
  EXPECT_NE(rig_->files().Observe(kId, false)->report->phase, model::AgentPhase::kDone);
}

TEST_P(FleetConformance, DirectoriesAreListedAndRemovedMoreThanOnce) {
  Prepare(kId);
  EXPECT_EQ(rig_->files().List().value(), std::vector<std::string>{kId});
  EXPECT_TRUE(rig_->files().Remove(kId));
  EXPECT_TRUE(rig_->files().Remove(kId));
  EXPECT_TRUE(rig_->files().List()->empty());
  const auto seen = rig_->files().Observe(kId, false);
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->locked || seen->report || seen->orders);
}

TEST_P(FleetConformance, OrdersKeepTheIdsOfPeers) {
  Prepare(kId);
  ASSERT_TRUE(rig_->files().Give(kId, {.upload = true, .merge_from = {"0123456789ab-1-2"}}));
  EXPECT_EQ(rig_->files().Observe(kId, false)->orders->merge_from,
            std::vector<std::string>{"0123456789ab-1-2"});
}

INSTANTIATE_TEST_SUITE_P(Fake, FleetConformance,
                         ::testing::Values([] { return std::make_unique<FakeRig>(); }));
INSTANTIATE_TEST_SUITE_P(Real, FleetConformance,
                         ::testing::Values([] { return std::make_unique<RealRig>(); }));

std::string ReadSmall(const env::Path& path) {
  return env::PosixFiles().Read(path, 1 << 20).value_or("");
}

TEST(LocalLauncher, GivesTheAgentNothingOfTheDaemons) {
  env::TemporaryDirectory home;
  const env::UniqueFd leak(::open("/dev/null", O_RDONLY));  // without O_CLOEXEC
  auto launcher = LocalLauncher::Create(
      {.command = {
           "/bin/sh", "-c",
           "cd \"$1\"; ls /proc/self/fd > fds; env > env; ps -o sid= -p $$ > sid; echo oops >&2",
           "agent"}});
  ASSERT_TRUE(launcher);
  std::atomic<bool> ended = false;
  (*launcher)->OnExit([&](const std::string&) { ended = true; });
  ASSERT_TRUE((*launcher)->Start({"a", home.path()}));
  while (!ended) std::this_thread::yield();
  // 0, 1, 2, and the directory that ls itself reads.
  EXPECT_EQ(ReadSmall(home.path() / "fds"), "0\n1\n2\n3\n");
  EXPECT_EQ(ReadSmall(home.path() / "env").find("HOME="), std::string::npos);
  EXPECT_EQ(ReadSmall(home.path() / "agent.err"), "oops\n");
  EXPECT_NE(std::stoi(ReadSmall(home.path() / "sid")), ::getsid(0));
}

// The other side of a fork server: this very program, started again with a hidden test as its only
// one.
TEST(ForkServer, DISABLED_Serve) {
  ::_exit(ServeForks(kForkServerSocket, [](const env::Path& directory) {
    env::PosixFiles files;
    (void)files.WriteAtomically(directory / "sid", std::to_string(::getsid(0)), {});
    (void)!::write(STDERR_FILENO, "oops\n", 5);
    // "crash" makes the whole server go, as a bug would.
    if (directory.filename() == "crash") ::kill(::getppid(), SIGKILL);
    (void)files.WriteAtomically(directory / "pid", std::to_string(::getpid()), {});
    return Served{0, !directory.filename().native().starts_with("once")};
  }));
}

std::vector<std::string> ServerCommand() {
  return {"/proc/self/exe", "--gtest_also_run_disabled_tests",
          "--gtest_filter=ForkServer.DISABLED_Serve"};
}

bool AwaitReadable(int fd) {
  constexpr int kPatienceMs = 20'000;
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, kPatienceMs) == 1;
}

// Until the process has ended, for it hears of nothing more to do.
bool AwaitEnd(ForkedAgent& agent) {
  if (!AwaitReadable(agent.line.get())) return false;
  agent.line.Reset();
  return AwaitReadable(agent.pidfd.get());
}

TEST(ForkServer, ForksAnAgentPerDirectoryInItsOwnSession) {
  env::TemporaryDirectory home;
  ForkServer server(ServerCommand(), {});
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directory(home.path() / name);
    auto agent = server.Fork(home.path() / name);
    ASSERT_TRUE(agent) << agent.error().message;
    ASSERT_TRUE(AwaitEnd(*agent));
    EXPECT_EQ(ReadSmall(home.path() / name / "sid"), std::to_string(agent->pid));
    EXPECT_EQ(ReadSmall(home.path() / name / "agent.err"), "oops\n");
  }
}

TEST(ForkServer, AFreeAgentServesTheNextDirectory) {
  env::TemporaryDirectory home;
  for (const char* name : {"a", "b", "once"}) std::filesystem::create_directory(home.path() / name);
  ForkServer server(ServerCommand(), {});
  auto agent = server.Fork(home.path() / "a");
  ASSERT_TRUE(agent) << agent.error().message;
  for (const char* name : {"b", "once"}) {
    ASSERT_TRUE(AwaitReadable(agent->line.get()));
    ASSERT_EQ(Hear(agent->line.get()), LineNews::kFree);
    EXPECT_EQ(Hear(agent->line.get()), LineNews::kNone);
    std::set<std::string> open;  // 0, 1, 2 and the line
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", agent->pid)))
      open.insert(entry.path().filename());
    EXPECT_EQ(open, (std::set<std::string>{"0", "1", "2", "3"}));
    ASSERT_TRUE(ServeNext(agent->line.get(), home.path() / name));
  }
  ASSERT_TRUE(AwaitReadable(agent->pidfd.get()));
  EXPECT_EQ(Hear(agent->line.get()), LineNews::kEnded);
  EXPECT_FALSE(ServeNext(agent->line.get(), home.path() / "b"));
  for (const char* name : {"a", "b", "once"}) {
    EXPECT_EQ(ReadSmall(home.path() / name / "pid"), std::to_string(agent->pid));
    EXPECT_EQ(ReadSmall(home.path() / name / "agent.err"), "oops\n");
  }
}

TEST(ForkServer, IsStartedAgainWhenItDies) {
  env::TemporaryDirectory home;
  ForkServer server(ServerCommand(), {});
  for (const char* name : {"crash", "a", "crash", "crash", "b"}) {
    std::filesystem::create_directory(home.path() / name);
    auto agent = server.Fork(home.path() / name);
    ASSERT_TRUE(agent) << name << ": " << agent.error().message;
    ASSERT_TRUE(AwaitEnd(*agent));
  }
  EXPECT_NE(ReadSmall(home.path() / "b" / "sid"), "");
}

TEST(ForkServer, ThatCannotBeStartedSaysSo) {
  env::TemporaryDirectory home;
  EXPECT_FALSE(ForkServer({"/nonexistent/server"}, {}).Fork(home.path()));
  const auto gone = ForkServer({"/bin/true"}, {}).Fork(home.path());
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kUnavailable);
}

TEST(LocalLauncher, FallsBackToAProgramOfItsOwn) {
  env::TemporaryDirectory home;
  auto launcher = LocalLauncher::Create(
      {.command = {"/bin/sh", "-c", "touch \"$1/ran\"", "agent"}, .server_command = {"/bin/true"}});
  std::atomic<bool> ended = false;
  (*launcher)->OnExit([&](const std::string&) { ended = true; });
  ASSERT_TRUE((*launcher)->Start({"a", home.path()}));
  while (!ended) std::this_thread::yield();
  EXPECT_TRUE(std::filesystem::exists(home.path() / "ran"));
}

TEST(LocalLauncher, HearsOfTheEndOfForkedAgents) {
  env::TemporaryDirectory home;
  auto launcher =
      LocalLauncher::Create({.command = {"/bin/false"}, .server_command = ServerCommand()});
  std::atomic<int> ended = 0;
  (*launcher)->OnExit([&](const std::string&) { ++ended; });
  constexpr int kAgents = 20;
  for (int i = 0; i < kAgents; ++i) {
    const env::Path directory = home.path() / std::to_string(i);
    std::filesystem::create_directory(directory);
    ASSERT_TRUE((*launcher)->Start({std::to_string(i), directory}));
  }
  while (ended < kAgents) std::this_thread::yield();
  for (int i = 0; i < kAgents; ++i) EXPECT_FALSE((*launcher)->Runs(std::to_string(i)));
}

// Starts an agent, and waits until it is free or has ended.
void ServeOne(LocalLauncher& launcher, std::atomic<int>& ended, const env::Path& directory) {
  std::filesystem::create_directory(directory);
  const int before = ended;
  ASSERT_TRUE(launcher.Start({directory.filename(), directory}));
  while (ended == before) std::this_thread::yield();
  EXPECT_FALSE(launcher.Runs(directory.filename()));
}

TEST(LocalLauncher, GivesAnInstanceToAFreeAgentWhileThereIsOne) {
  env::TemporaryDirectory home;
  auto launcher =
      LocalLauncher::Create({.command = {"/bin/false"}, .server_command = ServerCommand()});
  std::atomic<int> ended = 0;
  (*launcher)->OnExit([&](const std::string&) { ++ended; });
  for (const char* name : {"a", "b", "once", "c"}) ServeOne(**launcher, ended, home.path() / name);
  const auto pid = [&](const char* name) { return ReadSmall(home.path() / name / "pid"); };
  EXPECT_EQ(pid("a"), pid("b"));
  EXPECT_EQ(pid("a"), pid("once"));
  EXPECT_NE(pid("a"), pid("c"));  // the first one went
  EXPECT_NE(pid("c"), "");
}

TEST(LocalLauncher, DoesNotMissAFreeAgentThatWasKilled) {
  env::TemporaryDirectory home;
  auto launcher =
      LocalLauncher::Create({.command = {"/bin/false"}, .server_command = ServerCommand()});
  std::atomic<int> ended = 0;
  (*launcher)->OnExit([&](const std::string&) { ++ended; });
  ServeOne(**launcher, ended, home.path() / "a");
  const int pid = std::stoi(ReadSmall(home.path() / "a" / "pid"));
  const env::UniqueFd victim(::pidfd_open(pid, 0));
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_TRUE(AwaitReadable(victim.get()));
  ServeOne(**launcher, ended, home.path() / "b");
  EXPECT_NE(ReadSmall(home.path() / "b" / "pid"), std::to_string(pid));
}

TEST(LocalLauncher, FreeAgentsEndWithIt) {
  env::TemporaryDirectory home;
  auto launcher =
      LocalLauncher::Create({.command = {"/bin/false"}, .server_command = ServerCommand()});
  std::atomic<int> ended = 0;
  (*launcher)->OnExit([&](const std::string&) { ++ended; });
  ServeOne(**launcher, ended, home.path() / "a");
  const env::UniqueFd agent(::pidfd_open(std::stoi(ReadSmall(home.path() / "a" / "pid")), 0));
  launcher->reset();
  EXPECT_TRUE(!agent || AwaitReadable(agent.get()));
}

TEST(LocalLauncher, ReportsAProgramThatIsNotThere) {
  env::TemporaryDirectory home;
  auto launcher = LocalLauncher::Create({.command = {"/nonexistent/agent"}});
  const Status started = (*launcher)->Start({"a", home.path()});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE((*launcher)->Runs("a"));
}

TEST(DiskInstanceFiles, KeepsTheSpecificationToItsOwner) {
  env::TemporaryDirectory home;
  env::PosixFiles disk;
  DiskInstanceFiles files(disk, store::Paths(home.path()));
  ASSERT_TRUE(files.Prepare(kId, {}));
  struct stat info {};
  ASSERT_EQ(::stat((files.Directory(kId) / "spec.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(DiskInstanceFiles, TreatsATornReportAsNone) {
  env::TemporaryDirectory home;
  env::PosixFiles disk;
  DiskInstanceFiles files(disk, store::Paths(home.path()));
  ASSERT_TRUE(files.Prepare(kId, {}));
  for (const std::string_view torn : {"", "{\"phase\":", "{\"phase\":\"flying\"}", "[]"}) {
    ASSERT_TRUE(disk.WriteAtomically(files.Directory(kId) / "report.json", torn, {}));
    EXPECT_FALSE(files.Observe(kId, false)->report) << torn;
  }
}

TEST(DiskInstanceFiles, ReadsMetricsFromAnOffset) {
  env::TemporaryDirectory home;
  env::PosixFiles disk;
  DiskInstanceFiles files(disk, store::Paths(home.path()));
  ASSERT_TRUE(files.Prepare(kId, {}));
  ASSERT_TRUE(disk.WriteAtomically(files.Directory(kId) / "metrics.log", "0123456789", {}));
  EXPECT_EQ(files.Observe(kId, false)->metrics_bytes, 10u);
  EXPECT_EQ(files.ReadMetrics(kId, 4, 3).value(), "456");
  EXPECT_EQ(files.ReadMetrics(kId, 10, 3).value(), "");
  EXPECT_FALSE(files.ReadMetrics("0123456789ab-9-9", 0, 3));
}

}  // namespace
}  // namespace sabia::fleet::testing
