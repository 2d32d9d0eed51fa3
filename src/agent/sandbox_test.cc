#include "agent/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/interpreter.h"
#include "env/testing/temporary_directory.h"

namespace sabia::agent {
namespace {

std::string Join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word + " ";
  return out;
}

TEST(Sandbox, OptionsDependOnTheJob) {
  model::InstanceSpec spec;
  spec.host = "algo-1";
  spec.image = model::ImageKind::kXgboost;
  const SandboxPaths paths{.self_exe = "/home/u/sabia"};
  const auto plain =
      SandboxOptions(spec, Layout("/i"), paths, {{"/i/lower", "/opt/ml/input/data/f"}});
  ASSERT_TRUE(plain);
  const std::string text = Join(*plain);
  for (const char* part : {"--hostname algo-1 ", "--die-with-parent ", "--cap-drop ALL ",
                           "--bind /i/root /opt/ml ", "--ro-bind /i/lower /opt/ml/input/data/f ",
                           "--ro-bind /home/u/sabia /opt/sabia/bin/sabia ", "--clearenv "}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("--unshare-net")));
  spec.network_isolation = true;
  EXPECT_THAT(Join(*SandboxOptions(spec, Layout("/i"), paths, {})),
              testing::HasSubstr("--unshare-net "));
}

TEST(Sandbox, RefusesNulInVariables) {
  model::InstanceSpec spec;
  spec.environment = {{"A", std::string("x\0y", 3)}};
  EXPECT_FALSE(SandboxOptions(spec, Layout("/i"), {}, {}));
}

TEST(Sandbox, CheckpointPaths) {
  for (const char* good :
       {"/opt/ml/checkpoints", "/opt/ml/model/x", "/data", "/tmp/ck", "/root/ck", "/opt/x"}) {
    EXPECT_TRUE(CheckSandboxPath(good)) << good;
  }
  for (const char* bad :
       {"", "/", "x", "/a//b", "/a/..", "/opt/ml", "/opt/ml/input", "/opt/ml/input/config/x",
        "/usr", "/etc/x", "/lib64/x", "/proc", "/dev/shm", "/tmp", "/root", "/opt/sabia/bin"}) {
    EXPECT_FALSE(CheckSandboxPath(bad)) << bad;
  }
}

TEST(Sandbox, HostsHaveDistinctStableAddresses) {
  model::InstanceSpec spec;
  spec.job_arn = "arn:a";
  for (int i = 1; i <= 300; ++i) spec.hosts.push_back("algo-" + std::to_string(i));
  const std::string text = HostsFile(spec);
  EXPECT_EQ(text, HostsFile(spec));
  std::set<std::string> addresses;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++lines) {
    addresses.insert(text.substr(at, text.find(' ', at) - at));
  }
  EXPECT_EQ(lines, 302u);
  EXPECT_EQ(addresses.size(), 302u);
  model::InstanceSpec other = spec;
  other.job_arn = "arn:b";
  EXPECT_NE(HostsFile(other), text);
}

TEST(Interpreter, FindsVirtualEnvironmentsAndTheirBase) {
  const env::TemporaryDirectory base;
  namespace fs = std::filesystem;
  const fs::path real = base.path() / "versions/3.11";
  const fs::path venv = base.path() / "venv";
  fs::create_directories(real / "bin");
  fs::create_directories(venv / "bin");
  std::fclose(std::fopen((real / "bin/python3.11").c_str(), "w"));
  std::fclose(std::fopen((venv / "pyvenv.cfg").c_str(), "w"));
  fs::create_symlink("python3.11", real / "bin/python3");
  fs::create_symlink(real / "bin/python3", venv / "bin/python");
  EXPECT_TRUE(IsVirtualEnvironment(venv / "bin/python"));
  EXPECT_FALSE(IsVirtualEnvironment(real / "bin/python3"));
  EXPECT_THAT(InterpreterTrees(venv / "bin/python"), testing::ElementsAre(venv, real));
  EXPECT_THAT(InterpreterTrees(real / "bin/python3"), testing::ElementsAre(real));
  EXPECT_TRUE(InterpreterTrees("/usr/bin/python3").empty());
  EXPECT_TRUE(InterpreterTrees("/nonexistent").empty());
}

}  // namespace
}  // namespace sabia::agent
