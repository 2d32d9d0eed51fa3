#include "model/program_path.h"

#include <gtest/gtest.h>

namespace sabia::model {
namespace {

TEST(ProgramPath, AcceptsWhatAProgramMayOwn) {
  for (const char* good :
       {"/opt/ml/checkpoints", "/opt/ml/model/x", "/opt/ml/input/data/extra", "/data",
        "/tmp/checkpoints", "/root/x", "/usrdata", "/opt/ml/input/configured"}) {
    EXPECT_TRUE(CheckProgramPath(good).has_value()) << good;
  }
}

TEST(ProgramPath, RefusesTheSystemTheContractAndOddForms) {
  for (const char* bad : {"", "/", "relative", "/a/../b", "/a/./b", "/a//b", "/a/", "/opt/ml",
                          "/opt/ml/input", "/opt/ml/input/config", "/opt/ml/input/config/x", "/usr",
                          "/etc/passwd", "/proc/1", "/tmp", "/root", "/opt/sabia/x"}) {
    EXPECT_FALSE(CheckProgramPath(bad).has_value()) << bad;
  }
  EXPECT_FALSE(CheckProgramPath(std::string_view("/a\0b", 4)).has_value());
}

TEST(ProgramPath, NormalFormDropsMeaninglessSlashes) {
  EXPECT_EQ(NormalProgramPath("/opt/ml/checkpoints/"), "/opt/ml/checkpoints");
  EXPECT_EQ(NormalProgramPath("//a///b//"), "/a/b");
  EXPECT_EQ(NormalProgramPath("/"), "/");
  EXPECT_EQ(NormalProgramPath(""), "");
}

}  // namespace
}  // namespace sabia::model
