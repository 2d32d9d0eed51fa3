#include "fleet/pool_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

plan::PoolKeys Keys(const std::string& volume, const std::string& type = "ml.m5.large") {
  return {"arn:aws:iam::123456789012:role/a", "1", type, volume, "", "", "", "false", "false"};
}

TEST(PoolBoard, GivesTheOneThatHasWaitedLongest) {
  PoolBoard board;
  board.Offer("late", Keys("1"), FromUnixMillis(2'000));
  board.Offer("early", Keys("1"), FromUnixMillis(1'000));
  board.Offer("other", Keys("2"), FromUnixMillis(500));
  EXPECT_EQ(board.Match(Keys("1")), "early");
  board.Withdraw("early");
  EXPECT_EQ(board.Match(Keys("1")), "late");
  EXPECT_EQ(board.Match(Keys("3")), std::nullopt);
  EXPECT_THAT(board.OldestFirst(), ElementsAre("other", "late"));
}

TEST(PoolBoard, NamesTheFieldsOfTheNearest) {
  PoolBoard board;
  EXPECT_EQ(board.NearMiss(Keys("1")), "");
  board.Offer("two", Keys("2", "ml.m5.xlarge"), FromUnixMillis(1));
  board.Offer("one", Keys("2"), FromUnixMillis(2));
  EXPECT_EQ(board.NearMiss(Keys("1")),
            "started without a warm pool: the one of training job 'one' differs in VolumeSizeInGB "
            "('2' there, '1' here)");
  plan::PoolKeys stranger = Keys("1", "ml.c5.large");
  stranger[0] = "arn:aws:iam::123456789012:role/b";
  stranger[8] = "true";
  EXPECT_EQ(board.NearMiss(stranger), "") << "four differences are no near miss";
  EXPECT_THAT(board.NearMiss(Keys("3")), HasSubstr("'one'"));
}

}  // namespace
}  // namespace sabia::fleet
