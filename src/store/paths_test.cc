#include "store/paths.h"

#include <gtest/gtest.h>

namespace sabia::store {
namespace {

TEST(Paths, UserNamesBecomeSingleHarmlessComponents) {
  const Paths paths("/h");
  EXPECT_EQ(paths.log_stream("/aws/sagemaker/TrainingJobs", "job/algo-1-17"),
            "/h/logs/%2Faws%2Fsagemaker%2FTrainingJobs/job%2Falgo-1-17.log");
  EXPECT_EQ(paths.log_stream("..", "."), "/h/logs/%2E./%2E.log");
  EXPECT_EQ(paths.log_group("../../etc"), "/h/logs/%2E.%2F..%2Fetc");
}

TEST(Paths, NamesThatFitNoFileNameAreKnown) {
  EXPECT_FALSE(Paths::FitsLogName(""));
  EXPECT_TRUE(Paths::FitsLogName(std::string(200, 'a')));
  EXPECT_FALSE(Paths::FitsLogName(std::string(201, 'a')));
  EXPECT_FALSE(Paths::FitsLogName(std::string(67, '/')));
}

TEST(Paths, OurOwnIdsAreChecked) {
  const Paths paths("/h");
  EXPECT_EQ(paths.blob("0123456789abcdef0123456789abcdef"),
            "/h/blobs/01/0123456789abcdef0123456789abcdef");
  EXPECT_EQ(paths.instance("job-1"), "/h/instances/job-1");
  EXPECT_DEATH(paths.blob("../x"), "");
  EXPECT_DEATH(paths.instance("a/b"), "");
}

}  // namespace
}  // namespace sabia::store
