#include "agent/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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

// A directory of plain files stands in for a v2 hierarchy: the calls are the kernel's file
// interface.
TEST(Cgroup, WritesTheLimitsOfV2) {
  const env::TemporaryDirectory base;
  env::PosixFiles files;
  const auto write = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(files.WriteAtomically(base.path() / name, text,
                                      {.durability = env::Durability::kVolatile}));
  };
  write("cgroup.controllers", "cpu memory pids\n");
  write("cgroup.subtree_control", "");
  Cgroup group("sabia-x");
  group.Create({{base.path(), true, {}}}, {.memory_bytes = 1 << 20, .cpus = 0.5, .processes = 10});
  // No kernel makes the control files here, so every limit is reported as not enforced, each by
  // name.
  EXPECT_EQ(group.notes().size(), 3u);
  EXPECT_THAT(group.notes()[0], testing::HasSubstr("memory limit not enforced"));
  EXPECT_EQ(group.v2_group(), base.path() / "sabia-x");
  EXPECT_EQ(files.Read(base.path() / "cgroup.subtree_control", 100).value_or("?").substr(0, 1),
            "+");
  group.Remove();
  EXPECT_FALSE(files.Exists(base.path() / "sabia-x").value_or(true));
  group.Remove();
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
