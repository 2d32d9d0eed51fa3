#include "algorithms/checkpoints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "algorithms/testing/container_root.h"

namespace sabia::algorithms {
namespace {

class CheckpointsTest : public ::testing::Test {
 protected:
  bool Has(int round) const {
    return root_.Exists("ck/xgboost-checkpoint." + std::to_string(round));
  }

  ContainerRoot root_;
  env::ManualClock clock_;
  JobLog log_{clock_, -1};
  Checkpoints checkpoints_{root_.path() / "ck", log_};
};

TEST_F(CheckpointsTest, WrittenOnesAreReadBack) {
  ASSERT_TRUE(checkpoints_.Open());
  ASSERT_TRUE(checkpoints_.Write(9, "nine"));
  ASSERT_TRUE(checkpoints_.Write(10, "ten"));
  EXPECT_EQ(checkpoints_.Rounds(), (std::vector<int>{10, 9}));
  EXPECT_EQ(checkpoints_.Read(10), "ten");
  EXPECT_EQ(checkpoints_.Read(11).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(root_.Read("ck/xgboost-checkpoint.9").substr(0, 4),
            "nine");  // the library reads it as it is
}

TEST_F(CheckpointsTest, ForeignNamesAreNoRounds) {
  root_.Write("ck/xgboost-checkpoint.7.sagemaker-uploaded", "");
  root_.Write("ck/xgboost-checkpoint.8.sagemaker-ignore", "half");
  root_.Write("ck/xgboost-checkpoint.-1", "");
  root_.Write("ck/xgboost-checkpoint.", "");
  root_.Write("ck/notes.5", "");
  ASSERT_TRUE(checkpoints_.Open());
  EXPECT_TRUE(checkpoints_.Rounds().empty());
  EXPECT_FALSE(
      root_.Exists("ck/xgboost-checkpoint.8.sagemaker-ignore"));  // what an interrupted write left
  EXPECT_TRUE(root_.Exists("ck/notes.5"));
}

TEST_F(CheckpointsTest, TheNewestFiveStay) {
  ASSERT_TRUE(checkpoints_.Open());
  for (int round = 0; round < 8; ++round) {
    ASSERT_TRUE(checkpoints_.Write(round, "m"));
    checkpoints_.Prune(true);
  }
  EXPECT_EQ(checkpoints_.Rounds(), (std::vector<int>{7, 6, 5, 4, 3}));
}

TEST_F(CheckpointsTest, OlderOnesWaitForTheirUpload) {
  for (int round = 0; round < 7; ++round) {
    root_.Write("ck/xgboost-checkpoint." + std::to_string(round), "m");
  }
  root_.Write("ck/xgboost-checkpoint.0.sagemaker-uploading", "");
  root_.Write("ck/xgboost-checkpoint.1.sagemaker-uploading", "");
  root_.Write("ck/xgboost-checkpoint.1.sagemaker-uploaded", "");
  ASSERT_TRUE(checkpoints_.Open());
  checkpoints_.Prune(true);
  EXPECT_TRUE(Has(0));
  EXPECT_FALSE(Has(1));
  root_.Write("ck/xgboost-checkpoint.0.sagemaker-uploaded", "");
  checkpoints_.Prune(true);
  EXPECT_FALSE(Has(0));
}

TEST_F(CheckpointsTest, AtTheEndNothingWaits) {
  for (int round = 0; round < 6; ++round)
    root_.Write("ck/xgboost-checkpoint." + std::to_string(round), "m");
  root_.Write("ck/xgboost-checkpoint.0.sagemaker-uploading", "");
  ASSERT_TRUE(checkpoints_.Open());
  checkpoints_.Prune(false);
  EXPECT_FALSE(Has(0));
}

TEST(SealCheckpoint, TellsWholeFromDamaged) {
  const std::string sealed = SealCheckpoint("a model of some bytes");
  EXPECT_EQ(UnsealCheckpoint(sealed), "a model of some bytes");
  EXPECT_EQ(UnsealCheckpoint(SealCheckpoint("")), "");
  for (std::size_t cut = 0; cut < sealed.size(); ++cut) {
    EXPECT_EQ(UnsealCheckpoint(sealed.substr(0, cut)).error().code, ErrorCode::kCorrupt) << cut;
  }
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string bad = sealed;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_EQ(UnsealCheckpoint(bad).error().code, ErrorCode::kCorrupt) << i;
  }
  EXPECT_FALSE(UnsealCheckpoint(sealed + "x"));
}

}  // namespace
}  // namespace sabia::algorithms
