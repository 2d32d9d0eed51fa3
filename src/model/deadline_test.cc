#include "model/deadline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::model {
namespace {

using ::testing::HasSubstr;
using Tags = std::vector<std::pair<std::string, std::string>>;

TEST(Deadline, IsReadFromTags) {
  EXPECT_EQ(*DeadlineOf({{"team", "a"}}), std::nullopt);
  const auto planner = DeadlineOf({{"sabia:deadline-policy", "planner"}});
  ASSERT_TRUE(planner && *planner);
  EXPECT_EQ((*planner)->policy, DeadlinePolicy::kPlanner);
  EXPECT_EQ((*planner)->expected_runtime, std::nullopt);
  const auto greedy =
      DeadlineOf({{"sabia:expected-runtime", "90"}, {"sabia:deadline-policy", "greedy"}});
  ASSERT_TRUE(greedy && *greedy);
  EXPECT_EQ(**greedy, (Deadline{DeadlinePolicy::kGreedy, Seconds(90)}));
}

TEST(Deadline, RefusesWhatItDoesNotKnow) {
  const auto message = [](const Tags& tags) {
    const auto out = DeadlineOf(tags);
    return out ? "accepted" : out.error().message;
  };
  EXPECT_EQ(message({{"sabia:deadline-policy", "Planner"}}),
            "Tag 'sabia:deadline-policy' is 'Planner': planner, uniform-progress or greedy");
  for (const char* bad : {"", "0", "-1", "1.5", "90s", "9999999999999999999"}) {
    EXPECT_THAT(message({{"sabia:deadline-policy", "greedy"}, {"sabia:expected-runtime", bad}}),
                HasSubstr("'sabia:expected-runtime' is '"));
  }
  EXPECT_THAT(message({{"sabia:expected-runtime", "90"}}), HasSubstr("together with"));
}

TEST(Deadline, NeedsSpotAndTimeEnough) {
  const Tags tags = {{"sabia:deadline-policy", "planner"}, {"sabia:expected-runtime", "90"}};
  const auto message = [&](const json::object& request) {
    const auto out = DeadlineOf(tags, request);
    return out ? "accepted" : out.error().message;
  };
  json::object request{{"EnableManagedSpotTraining", true},
                       {"StoppingCondition", {{"MaxWaitTimeInSeconds", 90}}}};
  EXPECT_EQ(message(request), "accepted");
  request["StoppingCondition"] = {{"MaxWaitTimeInSeconds", 89}};
  EXPECT_THAT(message(request), HasSubstr("'sabia:expected-runtime' is 90: no more than"));
  request["StoppingCondition"] = json::object();
  EXPECT_THAT(message(request), HasSubstr("needs EnableManagedSpotTraining"));
  EXPECT_THAT(message({}), HasSubstr("needs EnableManagedSpotTraining"));
}

TEST(Deadline, SurvivesItsRecord) {
  for (const Deadline& deadline : {Deadline{DeadlinePolicy::kUniformProgress, Seconds(7)},
                                   Deadline{DeadlinePolicy::kPlanner, {}}}) {
    EXPECT_EQ(*Deadline::FromJson(deadline.ToJson()), deadline);
  }
}

}  // namespace
}  // namespace sabia::model
