#include "store/paths.h"

#include <gtest/gtest.h>

namespace sabia::store {
namespace {

TEST(Paths, UserNamesBecomeHarmlessComponents) {
  const Paths paths("/h");
  EXPECT_EQ(paths.log_stream("/aws/sagemaker/TrainingJobs", "job/algo-1-17"),
            "/h/logs/%2Faws%2Fsagemaker%2FTrainingJobs/job.d/algo-1-17.log");
  EXPECT_EQ(paths.log_stream("..", "."), "/h/logs/%2E./%2E.log");
  EXPECT_EQ(paths.log_stream("g", "../../x"), "/h/logs/g/%2E..d/%2E.%2Fx.log");
  EXPECT_EQ(paths.log_stream("g", "/"), "/h/logs/g/.d/.log");
  EXPECT_EQ(paths.log_group("../../etc"), "/h/logs/%2E.%2F..%2Fetc");
}

TEST(Paths, DistinctStreamsHaveDistinctFiles) {
  const Paths paths("/h");
  EXPECT_NE(paths.log_stream("g", "a.d/b"), paths.log_stream("g", "a/b"));
  EXPECT_NE(paths.log_stream("g", "a.log/b").parent_path(), paths.log_stream("g", "a"));
}

TEST(Paths, NamesThatFitNoFileNameAreKnown) {
  EXPECT_FALSE(Paths::FitsLogGroup(""));
  EXPECT_TRUE(Paths::FitsLogGroup(std::string(200, 'a')));
  EXPECT_FALSE(Paths::FitsLogGroup(std::string(201, 'a')));
  EXPECT_FALSE(Paths::FitsLogGroup(std::string(67, '/')));
  EXPECT_FALSE(Paths::FitsLogStream(""));
  EXPECT_TRUE(Paths::FitsLogStream(std::string(200, 'a') + "/" + std::string(190, 'b')));
  EXPECT_FALSE(Paths::FitsLogStream("a/" + std::string(201, 'b')));
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
