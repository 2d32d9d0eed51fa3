#include "plan/failure_reason.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

model::InstanceRecord Instance() {
  model::InstanceRecord instance;
  instance.job_name = "job";
  instance.instance_type = "ml.m5.large";
  instance.memory_bytes = std::int64_t{8} << 30;
  instance.leased = FromUnixMillis(1'700'000'000'000);
  return instance;
}

TEST(FailureReason, KeepsTheFirstCharactersOfTheFailureFile) {
  model::Report report;
  report.exit_code = 1;
  report.failure_file = std::string(3000, 'x');
  const std::string reason = AlgorithmFailure(report, Instance());
  EXPECT_EQ(reason.size(), kReasonCharsMax);
  EXPECT_THAT(reason, StartsWith("AlgorithmError: xxxx"));
}

TEST(FailureReason, OfAShortFailureFileAddsExitCodeAndLogStream) {
  model::Report report;
  report.exit_code = 2;
  report.failure_file = "no column 'y'";
  EXPECT_EQ(AlgorithmFailure(report, Instance()),
            "AlgorithmError: no column 'y', exit code: 2\n"
            "Log stream: job/algo-1-1700000000 of /aws/sagemaker/TrainingJobs");
}

TEST(FailureReason, WithoutAFailureFileQuotesTheLastLines) {
  model::Report report;
  report.exit_code = 1;
  report.last_lines = {"Traceback", "KeyError: 'y'"};
  EXPECT_EQ(AlgorithmFailure(report, Instance()),
            "AlgorithmError: the program ended with an error on algo-1, exit code: 1\n"
            "Last lines:\nTraceback\nKeyError: 'y'\n"
            "Log stream: job/algo-1-1700000000 of /aws/sagemaker/TrainingJobs");
}

TEST(FailureReason, CutsTheLastLinesInFrontAndKeepsTheLogStream) {
  model::Report report;
  report.exit_code = 1;
  report.last_lines = {std::string(5000, 'a') + "the end"};
  const std::string reason = AlgorithmFailure(report, Instance());
  EXPECT_LE(reason.size(), kReasonCharsMax + 2) << "the ellipsis is one character of three bytes";
  EXPECT_THAT(reason, HasSubstr("athe end\nLog stream: job/algo-1-1700000000"));
}

TEST(FailureReason, NamesTheSignal) {
  model::Report report;
  report.signal = 11;
  EXPECT_THAT(AlgorithmFailure(report, Instance()),
              HasSubstr("the program was killed by signal 11 (SIGSEGV) on algo-1, exit code: 139"));
}

TEST(FailureReason, NamesOutOfMemoryWithTheSize) {
  model::Report report;
  report.signal = 9;
  report.out_of_memory = true;
  EXPECT_THAT(AlgorithmFailure(report, Instance()),
              HasSubstr("out of memory: the program needed more than the 8.0 GiB of ml.m5.large"));
}

TEST(FailureReason, CutsBetweenCharactersNotInsideThem) {
  const std::string text = FirstCharacters("äöü", 2);
  EXPECT_EQ(text, "äö");
  EXPECT_EQ(LastCharacters("abcäöü", 3), "…öü");
  EXPECT_EQ(LastCharacters("öü", 2), "öü");
  EXPECT_EQ(LastCharacters("öü", 0), "");
}

TEST(FailureReason, OfAClientNeverSpeaksOfInternalErrors) {
  EXPECT_THAT(ClientFailure("no data"), Not(HasSubstr("nternal")));
  EXPECT_EQ(ClientFailure(std::string(2000, 'x')).size(), kReasonCharsMax);
}

}  // namespace
}  // namespace sabia::plan
