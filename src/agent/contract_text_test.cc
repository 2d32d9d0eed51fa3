#include "agent/contract_text.h"

#include <gtest/gtest.h>

#include "env/testing/temporary_directory.h"

namespace sabia::agent {
namespace {

TEST(ContractText, ShowsPathsAsTheProgramSeesThem) {
  const Layout layout("/home/instances/0123-1-1");
  model::InstanceSpec spec;
  spec.checkpoint_s3_uri = "s3://b/c";
  spec.checkpoint_local_path = "/var/ckpt";
  spec.channels.resize(1);
  spec.channels[0].name = "train";
  const auto text = [&](const std::string& path) {
    return ContractText(spec, layout, "'/home/instances/0123-1-1" + path + "': no");
  };
  EXPECT_EQ(text("/root/model/a"), "'/opt/ml/model/a': no");
  EXPECT_EQ(text("/scratch/tmp/x"), "'/tmp/x': no");
  EXPECT_EQ(text("/scratch/checkpoints/x"), "'/var/ckpt/x': no");
  EXPECT_EQ(text("/scratch/channels/0/lower/a"), "'/opt/ml/input/data/train/a': no");
  EXPECT_EQ(text("/scratch/sourcedir"), "'the source archive': no");
  EXPECT_EQ(text("/scratch/model.tar.gz"), "'model.tar.gz': no");
  EXPECT_EQ(text("/metrics.log"), "'metrics.log': no");
  EXPECT_EQ(ContractText(spec, layout, "'/home/other': no"), "'/home/other': no");
}

TEST(ContractText, KnowsTheResolvedDirectoryToo) {
  const env::TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() / "real");
  std::filesystem::create_directory_symlink(directory.path() / "real", directory.path() / "link");
  const Path real = std::filesystem::canonical(directory.path() / "real");
  EXPECT_EQ(ContractText({}, Layout(directory.path() / "link"), (real / "root/code/a").native()),
            "/opt/ml/code/a");
}

TEST(StartProblem, NamesTheCommandAndNotTheSandbox) {
  StartProblem problem = ReadStartProblem("bwrap: execvp train: No such file or directory");
  EXPECT_EQ(problem.text, "'train': No such file or directory");
  EXPECT_TRUE(problem.users);
  problem = ReadStartProblem("sabia: execvp /a: b: Permission denied");
  EXPECT_EQ(problem.text, "'/a: b': Permission denied");
  problem = ReadStartProblem("bwrap: No permissions to create new namespace");
  EXPECT_EQ(problem.text, "No permissions to create new namespace");
  EXPECT_FALSE(problem.users);
}

}  // namespace
}  // namespace sabia::agent
