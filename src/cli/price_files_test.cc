#include "cli/price_files.h"

#include <gtest/gtest.h>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::cli {
namespace {

constexpr char kHeader[] = "region,instance_type,usd_per_hour,basis,spot_saving_percent\n";

class PriceFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& lines) {
    ASSERT_TRUE(files_.MakeDirectories(paths_.prices()));
    ASSERT_TRUE(files_.WriteAtomically(paths_.prices() / name, kHeader + lines, {}));
  }
  std::string Problem() {
    const auto read = ReadPriceLists(files_, paths_);
    return read ? "" : read.error().message;
  }
  env::TemporaryDirectory home_;
  env::PosixFiles files_;
  store::Paths paths_{home_.path()};
};

TEST_F(PriceFilesTest, AListOfThePersonsOwnCountsFromItsDate) {
  EXPECT_EQ(Problem(), "");
  Write("2026-11-01.csv", "us-west-2,ml.m5.large,9,listed,50\n");
  const auto lists = ReadPriceLists(files_, paths_);
  ASSERT_TRUE(lists) << lists.error().message;
  const auto price = [&](const char* when) {
    return (*lists)->Find("us-west-2", "ml.m5.large", *ParseIso8601(when));
  };
  EXPECT_EQ(price("2026-10-31T23:59:59Z")->price.on_demand_per_hour.ToExactString(), "0.115");
  EXPECT_EQ(price("2026-11-01T00:00:00Z")->price.on_demand_per_hour.ToExactString(), "9");
}

TEST_F(PriceFilesTest, ProblemsNameTheFile) {
  Write("2026-11-01.csv", "us-west-2,ml.m5.large,dear,listed,\n");
  EXPECT_NE(Problem().find("2026-11-01.csv"), std::string::npos) << Problem();
  EXPECT_NE(Problem().find("'dear' is no price"), std::string::npos) << Problem();
  Write("2026-11-01.csv", "");
  Write("november.csv", "");
  EXPECT_NE(Problem().find("'november' is no date"), std::string::npos) << Problem();
}

}  // namespace
}  // namespace sabia::cli
