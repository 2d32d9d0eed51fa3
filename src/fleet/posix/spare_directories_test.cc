#include "fleet/posix/spare_directories.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>

#include "env/posix/empty_file.h"
#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"
#include "fleet/posix/disk_instance_files.h"
#include "model/instance_tree.h"

namespace sabia::fleet {
namespace {

using ::testing::UnorderedElementsAre;

class Spares : public ::testing::Test {
 protected:
  // An instance as its agent leaves it, when the program left nothing.
  env::Path Ended(const std::string& name) {
    env::Path directory = base_.path() / name;
    EXPECT_TRUE(files_.MakeDirectories(directory));
    for (const auto& [path, mode] : model::kInstanceTree) {
      EXPECT_TRUE(files_.MakeDirectories(directory / path));
      EXPECT_EQ(::chmod((directory / path).c_str(), mode), 0);
    }
    for (const char* file : {"spec.json", "report.json", "lock", "agent.err", "agent.poke"})
      Write(directory / file, std::string_view(file).ends_with(".json") ? "{}" : "");
    return directory;
  }

  void Write(const env::Path& path, std::string_view text) {
    EXPECT_TRUE(files_.WriteAtomically(path, text,
                                       {.mode = 0600, .durability = env::Durability::kVolatile}));
  }

  env::TemporaryDirectory base_;
  env::PosixFiles files_;
  SpareDirectories spares_{files_, base_.path() / "spare"};
};

TEST_F(Spares, WhatIsAsGoodAsNewServesAgainWithoutItsFiles) {
  const env::Path old = Ended("a-1-1");
  EXPECT_TRUE(spares_.Keep(old));
  EXPECT_FALSE(*files_.Exists(old));
  const env::Path next = base_.path() / "b-1-1";
  EXPECT_TRUE(spares_.Give(next));
  EXPECT_THAT(*files_.List(next),
              UnorderedElementsAre("root", "scratch", "lock", "agent.err", "agent.poke",
                                   "spec.json", "report.json", "report.next"));
  for (const char* file : {"agent.err", "spec.json", "report.json", "report.next"})
    EXPECT_LE(files_.Read(next / file, 1 << 10).value_or("none").size(), env::kEmptyFileMax)
        << file;
  EXPECT_THAT(*files_.List(next / "scratch"), UnorderedElementsAre("tmp", "home"));
  EXPECT_FALSE(spares_.Give(base_.path() / "c-1-1"));  // there was one
}

TEST_F(Spares, WhatTheProgramTouchedIsNotKept) {
  const std::vector<std::pair<std::string, std::function<void(const env::Path&)>>> cases = {
      {"a file", [this](const auto& i) { Write(i / "root/model/weights", "x"); }},
      {"a hidden file", [this](const auto& i) { Write(i / "scratch/tmp/.x", "x"); }},
      {"a directory", [](const auto& i) { ::mkdir((i / "root/new").c_str(), 0755); }},
      {"a link", [](const auto& i) { (void)!::symlink("/", (i / "root/output/data/l").c_str()); }},
      {"one less", [](const auto& i) { ::rmdir((i / "root/code").c_str()); }},
      {"another mode", [](const auto& i) { ::chmod((i / "root/model").c_str(), 0777); }},
      {"set-user-id", [](const auto& i) { ::chmod((i / "root/model").c_str(), 04755); }},
      {"a link for a directory",
       [](const auto& i) {
         ::rmdir((i / "root/code").c_str());
         (void)!::symlink("model", (i / "root/code").c_str());
       }},
      {"orders", [this](const auto& i) { Write(i / "orders.json", "{}"); }},
      {"a directory beside", [](const auto& i) { ::mkdir((i / "listing").c_str(), 0755); }},
      {"no lock", [](const auto& i) { ::unlink((i / "lock").c_str()); }},
  };
  int number = 0;
  for (const auto& [what, change] : cases) {
    const env::Path directory = Ended(std::to_string(++number) + "-1-1");
    change(directory);
    EXPECT_FALSE(spares_.Keep(directory)) << what;
    EXPECT_FALSE(spares_.Give(base_.path() / "next")) << what;
  }
}

// A kernel without fine time stamps may need a moment until a change shows.
TEST_F(Spares, WhatServedBeforeIsLookedAtAsCloselyWhenItHasChanged) {
  const env::Path directory = Ended("a-1-1");
  const auto served_again = [&] {
    timespec later{};
    ::clock_gettime(CLOCK_REALTIME, &later);
    later.tv_sec += 5;  // so that the stamps of the tree count as settled
    const std::array<timespec, 2> times = {later, later};
    ::utimensat(AT_FDCWD, (directory / "report.json").c_str(), times.data(), 0);
    const bool kept = spares_.Keep(directory);
    return kept && spares_.Give(directory);
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(served_again()) << i;
  // A change that leaves the directory's names as they were.
  EXPECT_EQ(::chmod((directory / "root/model").c_str(), 0777), 0);
  EXPECT_FALSE(served_again());
  EXPECT_EQ(::chmod((directory / "root/model").c_str(), 0755), 0);
  EXPECT_TRUE(served_again());
  Write(directory / "root/output/data/x", "x");
  EXPECT_FALSE(served_again());
}

TEST_F(Spares, ExtendedAttributesAreSeen) {
  const env::Path directory = Ended("a-1-1");
  if (::setxattr((directory / "root/model").c_str(), "user.note", "x", 1, 0) != 0)
    GTEST_SKIP() << "no extended attributes here: errno " << errno;
  EXPECT_FALSE(spares_.Keep(directory));
}

TEST_F(Spares, AnAgentThatLivesKeepsItsDirectory) {
  const env::Path directory = Ended("a-1-1");
  const auto lock = env::OpenFile(directory / "lock", O_RDONLY);
  ASSERT_TRUE(lock);
  ASSERT_EQ(::flock(lock->get(), LOCK_EX), 0);
  EXPECT_FALSE(spares_.Keep(directory));
  EXPECT_TRUE(*files_.Exists(directory / "spec.json"));
}

TEST_F(Spares, ErrorsOfAnAgentAreNotHandedOn) {
  const env::Path directory = Ended("a-1-1");
  Write(directory / "agent.err", "it went wrong");
  ASSERT_TRUE(spares_.Keep(directory));
  ASSERT_TRUE(spares_.Give(base_.path() / "b-1-1"));
  EXPECT_EQ(files_.Read(base_.path() / "b-1-1" / "agent.err", 1 << 10).value_or("none"), "");
}

TEST_F(Spares, WhatAnEarlierDaemonKeptIsRemoved) {
  Write(base_.path() / "spare-of-old", "");
  EXPECT_TRUE(files_.MakeDirectories(base_.path() / "spare" / "old-1-1"));
  EXPECT_TRUE(spares_.Keep(Ended("a-1-1")));
  EXPECT_THAT(*files_.List(base_.path() / "spare"), UnorderedElementsAre("a-1-1"));
}

TEST_F(Spares, AnInstanceThatExistsIsLeftAlone) {
  EXPECT_TRUE(spares_.Keep(Ended("a-1-1")));
  const env::Path taken = Ended("b-1-1");
  EXPECT_FALSE(spares_.Give(taken));
  EXPECT_TRUE(*files_.Exists(taken / "report.json"));
  EXPECT_TRUE(spares_.Give(base_.path() / "c-1-1"));  // it was not lost
}

TEST_F(Spares, OnlyInstancesThatAreDoneAreKept) {
  const store::Paths paths(base_.path() / "home");
  DiskInstanceFiles instances(files_, paths);
  std::filesystem::create_directories(paths.instances());
  const auto report = [&](std::string_view text) {
    const env::Path made = Ended("made");
    Write(made / "report.json", text);
    std::filesystem::rename(made, instances.Directory("a-1-1"));
  };
  report(R"({"phase":"training","pid":1,"began":{},"instance":"a-1-1"})");
  EXPECT_FALSE(instances.Keep("a-1-1"));
  EXPECT_TRUE(instances.Remove("a-1-1"));
  report(R"({"phase":"done","pid":1,"began":{},"instance":"z-1-1"})");
  EXPECT_FALSE(instances.Observe("a-1-1", false)->report) << "the report of another instance";
  EXPECT_FALSE(instances.Keep("a-1-1"));
  EXPECT_TRUE(instances.Remove("a-1-1"));
  report(R"({"phase":"done","pid":1,"began":{},"instance":"a-1-1"})");
  EXPECT_TRUE(instances.Observe("a-1-1", false)->report);
  EXPECT_TRUE(instances.Keep("a-1-1"));
  EXPECT_TRUE(instances.List()->empty());
  Preparation next;
  next.spec.id = "b-1-1";
  EXPECT_TRUE(instances.Prepare("b-1-1", next));
  EXPECT_FALSE(instances.Observe("b-1-1", false)->report);
  EXPECT_TRUE(*files_.Exists(instances.Directory("b-1-1") / "root/output/metrics/sagemaker"));
}

}  // namespace
}  // namespace sabia::fleet
