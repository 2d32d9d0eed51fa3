#include "agent/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::agent {
namespace {

constexpr char kHybridMounts[] =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory\n"
    "36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr char kHybridGroups[] = "4:memory:/api/b1\n3:devices:/\n1:cpu,cpuacct:/\n0::/\n";

TEST(Cgroup, FindsHybridHierarchies) {
  const auto got = FindHierarchies(kHybridMounts, kHybridGroups);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].base, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_THAT(got[0].controllers, testing::ElementsAre("cpu", "cpuacct"));
  EXPECT_EQ(got[1].base, "/sys/fs/cgroup/memory/api/b1");
  EXPECT_FALSE(got[1].v2);
  EXPECT_TRUE(got[2].v2);
}

TEST(Cgroup, FindsUnifiedInsideAContainerAndOddMountPoints) {
  const auto got = FindHierarchies(
      "30 20 0:26 /docker/abc /sys/fs/c\\040g rw - cgroup2 cgroup2 rw\n", "0::/docker/abc/inner\n");
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].base, "/sys/fs/c g/inner");
  EXPECT_TRUE(FindHierarchies("", "").empty());
  EXPECT_TRUE(FindHierarchies("garbage\n1 2 - \n", "x\n:::\n").empty());
}

// Directories of plain files stand in for a v2 hierarchy: its interface is files. What a kernel
// would make by itself (control files of a new group) is missing, so limits come back as not
// enforced.
class CgroupV2Test : public testing::Test {
 protected:
  void Group(const std::string& name, const std::string& controllers) {
    const env::Path group = base_.path() / name;
    CHECK(files_.MakeDirectories(group));
    Write(group / "cgroup.controllers", controllers);
    Write(group / "cgroup.subtree_control", "");
    Write(group / "cgroup.procs", "");
  }
  void Write(const env::Path& path, const std::string& text) {
    CHECK(files_.WriteAtomically(path, text, {.durability = env::Durability::kVolatile}));
  }
  bool Exists(const std::string& name) {
    return files_.Exists(base_.path() / name).value_or(false);
  }
  CgroupHierarchy At(const std::string& own) {
    return {base_.path() / own, true, base_.path(), {}};
  }

  const CgroupLimits limits_{.memory_bytes = 1 << 20, .cpus = 0.5, .processes = 10};
  env::TemporaryDirectory base_;
  env::PosixFiles files_;
};

TEST_F(CgroupV2Test, RootMakesItsGroupsAtTheTop) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Group(".", "cpuset cpu memory pids\n");
  Group("sabia", "cpu memory pids\n");
  Group("system.slice/ssh", "memory\n");
  Cgroup group("sabia-x");
  group.Create({At("system.slice/ssh")}, limits_);
  EXPECT_EQ(group.v2_group(), base_.path() / "sabia/sabia-x");
  EXPECT_EQ(files_.Read(base_.path() / "sabia/cgroup.subtree_control", 100).value_or("?").front(),
            '+');
  EXPECT_EQ(group.notes().size(), 3u);
  EXPECT_THAT(group.notes()[0], testing::HasSubstr("memory limit not enforced"));
  group.Remove();
  EXPECT_FALSE(Exists("sabia/sabia-x"));
  group.Remove();
}

TEST_F(CgroupV2Test, OthersUseTheirOwnGroupAndStayOutOfTheAside) {
  Group("user/app/sabia-main", "cpu memory pids\n");
  Group("user/app", "cpu memory pids\n");
  Cgroup group("sabia-x");
  group.Create({At("user/app/sabia-main")}, limits_);
  EXPECT_EQ(group.v2_group(), base_.path() / "user/app/sabia-x");
}

TEST_F(CgroupV2Test, HybridWithoutControllersIsLeftAlone) {
  Group(".", "\n");
  Cgroup group("sabia-x");
  group.Create({At(".")}, limits_);
  EXPECT_EQ(group.v2_group(), "");
  EXPECT_FALSE(Exists("sabia"));
}

TEST(Cgroup, SaysWhatCannotBeEnforced) {
  Cgroup group("sabia-x");
  group.Create({}, {.memory_bytes = 1, .cpus = 1, .processes = 1});
  EXPECT_EQ(group.notes().size(), 3u);
  EXPECT_FALSE(group.OutOfMemory());
  Cgroup unlimited("sabia-x");
  unlimited.Create({}, {});
  EXPECT_TRUE(unlimited.notes().empty());
}

}  // namespace
}  // namespace sabia::agent
