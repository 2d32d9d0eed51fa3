// Goal: script mode behaves as the SageMaker training toolkit does it, on the host's Python.
// Method: a real agent with a real sandbox over a directory; only the S3 endpoint is a fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/agent_run.h"
#include "channels/archive.h"

namespace sabia::agent {
namespace {

using testing::HasSubstr;

#define SKIP_WITHOUT_PYTHON()                                            \
  if (!AgentRun::Available() || ::access("/usr/bin/python3", X_OK) != 0) \
  GTEST_SKIP() << "needs /usr/bin/bwrap and /usr/bin/python3"

class ScriptRun : public AgentRun {
 public:
  ScriptRun() {
    spec.image = model::ImageKind::kPython;
    spec.hyperparameters = {
        {"sagemaker_program", "\"train.py\""},
        {"sagemaker_submit_directory", "\"s3://bucket/code/sourcedir.tar.gz\""}};
  }
  // Files → sourcedir.tar.gz in S3.
  void Source(const std::map<std::string, std::string>& files) {
    const Path tree = base() / "source";
    env::PosixFiles disk;
    for (const auto& [path, content] : files) {
      CHECK(disk.MakeDirectories((tree / path).parent_path()));
      CHECK(disk.WriteAtomically(tree / path, content, {.durability = env::Durability::kVolatile}));
    }
    const Path tar = base() / "sourcedir.tar.gz";
    CHECK(channels::PackTar(*channels::MergeTrees({tree}), tar, 1, [] { return false; }));
    CHECK(s3().Upload(tar, {"bucket", "code/sourcedir.tar.gz"}));
  }
};

TEST(ScriptRun, BWRAP_RunsAScriptWithArgumentsAndVariables) {
  SKIP_WITHOUT_PYTHON();
  ScriptRun run;
  run.spec.hyperparameters["epochs"] = "3";
  run.spec.hyperparameters["lr"] = "1e-5";
  run.spec.metrics = {{"loss", "loss=([0-9.]+)"}};
  run.AddChannel("train", {{"a.csv", "1\n"}});
  run.Source({{"train.py",
               "import os, sys, helper\n"
               "print(sys.argv[1:], os.getcwd(), helper.x)\n"
               "print(os.environ['SM_HP_EPOCHS'], os.listdir(os.environ['SM_CHANNEL_TRAIN']))\n"
               "print('loss=0.5'); print('loss=0.25')\n"
               "open(os.environ['SM_MODEL_DIR'] + '/m', 'w').write('model')\n"},
              {"helper.py", "x = 'helped'\n"}});
  const model::Report report = run.Run();
  ASSERT_EQ(report.exit_code, 0) << report.error << run.Log();
  EXPECT_EQ(
      run.Log(),
      "['--epochs', '3', '--lr', '1e-05'] /opt/ml/code helped\n3 ['a.csv']\nloss=0.5\nloss=0.25\n");
  ASSERT_EQ(report.metrics.size(), 1u);
  EXPECT_DOUBLE_EQ(report.metrics[0].value, 0.25);
  env::PosixFiles files;
  const std::string metrics = files.Read(run.layout().metrics_log(), 1 << 20).value_or("");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 2);
  EXPECT_THAT(metrics, HasSubstr(R"("name":"loss","value":5E-1)"));
}

TEST(ScriptRun, BWRAP_ExceptionBecomesTheToolkitsFailureText) {
  SKIP_WITHOUT_PYTHON();
  ScriptRun run;
  run.spec.hyperparameters["epochs"] = "3";
  run.Source({{"train.py", "print('before')\nraise ValueError('bad data')\n"}});
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(report.failure_file,
            "ExecuteUserScriptError:\nExitCode 1\nErrorMessage \"ValueError: bad data\"\n"
            "Command \"/usr/bin/python3 train.py --epochs 3\"");
  EXPECT_FALSE(report.model_uploaded);
}

TEST(ScriptRun, BWRAP_OwnFailureFileWins) {
  SKIP_WITHOUT_PYTHON();
  ScriptRun run;
  run.Source(
      {{"train.py", "open('/opt/ml/output/failure', 'w').write('mine')\nraise SystemExit(4)\n"}});
  EXPECT_EQ(run.Run().failure_file, "mine");
}

TEST(ScriptRun, BWRAP_ShellScriptGetsArgumentsAndSigterm) {
  SKIP_WITHOUT_PYTHON();
  ScriptRun run;
  run.spec.hyperparameters["sagemaker_program"] = "run.sh";
  run.spec.hyperparameters["name"] = "a b";
  run.Source({{"run.sh",
               "#!/bin/sh\ntrap 'echo term; exit 0' TERM\necho \"$@\"; python --version\n"
               "while :; do sleep 0.01; done\n"}});
  run.Start();
  ASSERT_TRUE(run.UntilLogged("Python 3"));
  run.Order({.stop = model::StopReason::kRequested});
  run.Wait();
  EXPECT_THAT(run.Log(), HasSubstr("--name a b\nPython 3"));
  EXPECT_THAT(run.Log(), HasSubstr("term\n"));
}

TEST(ScriptRun, BWRAP_MissingSourceAndProgramBlameTheUser) {
  SKIP_WITHOUT_PYTHON();
  ScriptRun none;
  const model::Report missing = none.Run();
  EXPECT_TRUE(missing.error_is_users);
  EXPECT_THAT(missing.error, HasSubstr("s3://bucket/code/sourcedir.tar.gz"));
  ScriptRun other;
  other.Source({{"other.py", ""}});
  EXPECT_THAT(other.Run().error, HasSubstr("no file 'train.py'"));
  ScriptRun outside;
  outside.Source({{"train.py", ""}});
  outside.spec.hyperparameters["sagemaker_program"] = "../../etc/passwd";
  EXPECT_TRUE(outside.Run().error_is_users);
}

TEST(ScriptRun, BWRAP_SourceMayBeAPrefixOrAChannel) {
  SKIP_WITHOUT_PYTHON();
  ScriptRun prefix;
  prefix.spec.hyperparameters["sagemaker_submit_directory"] = "s3://bucket/plain";
  ASSERT_TRUE(prefix.s3().Put({"bucket", "plain/train.py"}, "import lib.x\nprint('prefix')\n"));
  ASSERT_TRUE(prefix.s3().Put({"bucket", "plain/lib/x.py"}, ""));
  EXPECT_EQ(prefix.Run().exit_code, 0) << prefix.Log();
  EXPECT_EQ(prefix.Log(), "prefix\n");
  ScriptRun channel;
  channel.spec.hyperparameters["sagemaker_submit_directory"] = "/opt/ml/input/data/code";
  channel.AddChannel("code", {{"train.py", "print('channel')\n"}});
  EXPECT_EQ(channel.Run().exit_code, 0) << channel.Report().error << channel.Log();
  EXPECT_EQ(channel.Log(), "channel\n");
}

TEST(ScriptRun, BWRAP_RequirementsThatCannotBeInstalledFailClearly) {
  SKIP_WITHOUT_PYTHON();
  ScriptRun run;
  run.Source(
      {{"train.py", "print('never')\n"}, {"requirements.txt", "/nonexistent-package-directory\n"}});
  const model::Report report = run.Run();
  EXPECT_NE(report.exit_code, 0);
  EXPECT_THAT(report.failure_file, HasSubstr("InstallRequirementsError:\nExitCode 1"));
  EXPECT_THAT(run.Log(), testing::Not(HasSubstr("never")));
}

TEST(ScriptRun, BWRAP_LocalRequirementIsInstalled) {
  SKIP_WITHOUT_PYTHON();
  if (::access("/usr/lib/python3/dist-packages/pip/__init__.py", R_OK) != 0 ||
      ::access("/usr/lib/python3/dist-packages/setuptools/__init__.py", R_OK) != 0) {
    GTEST_SKIP() << "needs python3-pip and python3-setuptools";
  }
  ScriptRun run;
  run.spec.environment = {{"PIP_NO_INDEX", "1"}, {"PIP_NO_BUILD_ISOLATION", "0"}};
  run.Source(
      {{"train.py", "import mylib; print(mylib.y)\n"},
       {"requirements.txt", "./dep\n"},
       {"dep/setup.py",
        "from setuptools import setup\nsetup(name='mylib', version='1', py_modules=['mylib'])\n"},
       {"dep/mylib.py", "y = 'installed'\n"}});
  const model::Report report = run.Run();
  EXPECT_EQ(report.exit_code, 0) << run.Log();
  EXPECT_THAT(run.Log(), HasSubstr("installed\n"));
}

}  // namespace
}  // namespace sabia::agent
