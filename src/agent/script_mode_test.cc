#include "agent/script_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

model::InstanceSpec Program(const std::string& name) {
  model::InstanceSpec spec;
  spec.python = "/usr/bin/python3";
  spec.hyperparameters = {{"sagemaker_program", name}, {"epochs", "2"}, {"tag", "a b"}};
  return spec;
}

TEST(ScriptMode, PythonProgram) {
  const auto command = ScriptCommand(Program("train.py"), {.program = true});
  ASSERT_TRUE(command);
  EXPECT_THAT(*command,
              ElementsAre("/usr/bin/python3", "train.py", "--epochs", "2", "--tag", "a b"));
  EXPECT_EQ(CommandText(*command), "/usr/bin/python3 train.py --epochs 2 --tag 'a b'");
}

TEST(ScriptMode, ShellProgram) {
  const auto command = ScriptCommand(Program("run me.sh"), {.program = true});
  ASSERT_TRUE(command);
  EXPECT_THAT(*command,
              ElementsAre("/bin/sh", "-c",
                          "chmod u+x ./'run me.sh'; exec ./'run me.sh' --epochs 2 --tag 'a b'"));
}

TEST(ScriptMode, PackageIsInstalledAndRunAsModule) {
  const auto command = ScriptCommand(Program("pkg.train"), {.setup = true});
  ASSERT_TRUE(command);
  ASSERT_GT(command->size(), 6u);
  EXPECT_EQ((*command)[0], "/bin/sh");
  EXPECT_THAT((*command)[2], HasSubstr("-m pip install"));
  EXPECT_THAT(std::vector<std::string>(command->begin() + 4, command->end()),
              ElementsAre("/usr/bin/python3", "-U", ".", "/usr/bin/python3", "-m", "pkg.train",
                          "--epochs", "2", "--tag", "a b"));
}

TEST(ScriptMode, RequirementsComeFirst) {
  const auto command = ScriptCommand(Program("train.py"), {.requirements = true, .program = true});
  ASSERT_TRUE(command);
  EXPECT_THAT(std::vector<std::string>(command->begin() + 4, command->begin() + 8),
              ElementsAre("/usr/bin/python3", "-r", "requirements.txt", "/usr/bin/python3"));
}

TEST(ScriptMode, MissingProgramsAreNamed) {
  const auto none = ScriptCommand({}, {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("sagemaker_program"));
  const auto absent = ScriptCommand(Program("gone.py"), {});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(absent.error().message, HasSubstr("gone.py"));
}

TEST(ScriptMode, FailureText) {
  EXPECT_EQ(ScriptFailureText(1, "ValueError: no", {"/usr/bin/python3", "train.py"}),
            "ExecuteUserScriptError:\nExitCode 1\nErrorMessage \"ValueError: no\"\n"
            "Command \"/usr/bin/python3 train.py\"");
}

}  // namespace
}  // namespace sabia::agent
