#include "api/logs.h"

#include <set>

#include "api/log_requests.h"
#include "api/testing/api_fixture.h"
#include "base/encoding.h"

namespace sabia::api {
namespace {

class LogsTest : public ApiFixture {
 protected:
  LogsTest() : logs_(store::Paths(directory_.path()), clock_) { RegisterLogs(table_, logs_); }

  json::object Good(const std::string& action, const json::object& input) {
    return Ok("logs", action, json::serialize(input));
  }
  std::string Bad(const std::string& action, const json::object& input) {
    return Refusal("logs", action, json::serialize(input));
  }
  void MakeStream(std::string_view group, std::string_view stream) {
    (void)logs_.CreateGroup(group);
    Good("CreateLogStream", {{"logGroupName", group}, {"logStreamName", stream}});
  }
  // Messages at one-second distances from `first` on.
  void Put(std::string_view stream, const std::vector<std::string>& messages,
           std::int64_t first = kStart) {
    json::array events;
    for (const std::string& message : messages) {
      events.push_back({{"timestamp", first}, {"message", message}});
      first += 1'000;
    }
    Good("PutLogEvents", {{"logGroupName", "g"}, {"logStreamName", stream}, {"logEvents", events}});
  }
  static std::string Messages(const json::object& answer) {
    std::string all;
    for (const json::value& event : *FindArray(answer, "events")) {
      all += GetString(event.get_object(), "message") + " ";
    }
    return all;
  }
  static std::string Names(const json::object& answer) {
    std::string all;
    for (const json::value& stream : *FindArray(answer, "logStreams")) {
      all += GetString(stream.get_object(), "logStreamName") + " ";
    }
    return all;
  }
  json::object Get(const json::object& more) {
    json::object input{{"logGroupName", "g"}, {"logStreamName", "s"}};
    for (const auto& [key, value] : more) input[key] = value;
    return Good("GetLogEvents", input);
  }

  static constexpr std::int64_t kStart = 1'700'000'000'000;
  store::LogStore logs_;
};

TEST_F(LogsTest, ForwardReadingEndsWithTheSameToken) {
  MakeStream("g", "s");
  Put("s", {"a", "b", "c"});
  json::object page = Get({{"startFromHead", true}, {"limit", 2}});
  EXPECT_EQ(Messages(page), "a b ");
  page = Get({{"nextToken", page["nextForwardToken"]}});
  EXPECT_EQ(Messages(page), "c ");
  const json::value token = page["nextForwardToken"];
  page = Get({{"nextToken", token}});
  EXPECT_EQ(Messages(page), "");
  EXPECT_EQ(page["nextForwardToken"], token);
  Put("s", {"d"}, kStart + 5'000);
  EXPECT_EQ(Messages(Get({{"nextToken", token}})), "d ");
}

TEST_F(LogsTest, WithoutStartFromHeadTheNewestComeFirstPageAfterPage) {
  MakeStream("g", "s");
  Put("s", {"a", "b", "c"});
  json::object page = Get({{"limit", 2}});
  EXPECT_EQ(Messages(page), "b c ");
  page = Get({{"nextToken", page["nextBackwardToken"]}, {"limit", 2}});
  EXPECT_EQ(Messages(page), "a ");
  const json::value token = page["nextBackwardToken"];
  page = Get({{"nextToken", token}});
  EXPECT_EQ(Messages(page), "");
  EXPECT_EQ(page["nextBackwardToken"], token);
}

TEST_F(LogsTest, ReadingAnEmptyStreamFromItsTailMissesNothingLater) {
  MakeStream("g", "s");
  const json::object page = Get({});
  EXPECT_EQ(Messages(page), "");
  Put("s", {"late"});
  EXPECT_EQ(Messages(Get({{"nextToken", page.at("nextForwardToken")}})), "late ");
}

TEST_F(LogsTest, StartTimeIsInclusiveAndEndTimeExclusive) {
  MakeStream("g", "s");
  Put("s", {"a", "b", "c"});
  EXPECT_EQ(Messages(Get({{"startFromHead", true}, {"startTime", kStart + 1'000}})), "b c ");
  EXPECT_EQ(Messages(Get({{"startFromHead", true}, {"endTime", kStart + 1'000}})), "a ");
}

TEST_F(LogsTest, BadTokensAndMissingNames) {
  MakeStream("g", "s");
  for (const char* token : {"x", "f/", "f/x", "f/-1", "g/1"}) {
    EXPECT_EQ(
        Bad("GetLogEvents", {{"logGroupName", "g"}, {"logStreamName", "s"}, {"nextToken", token}}),
        "InvalidParameterException: The specified nextToken is invalid.")
        << token;
  }
  EXPECT_EQ(Bad("GetLogEvents", {{"logGroupName", "g"}, {"logStreamName", "no"}}),
            "ResourceNotFoundException: The specified log stream does not exist.");
  EXPECT_EQ(Bad("GetLogEvents", {{"logGroupName", "no"}, {"logStreamName", "s"}}),
            "ResourceNotFoundException: The specified log group does not exist.");
  EXPECT_EQ(Bad("DescribeLogStreams", {{"logGroupName", "no"}}),
            "ResourceNotFoundException: The specified log group does not exist.");
  EXPECT_TRUE(Bad("DescribeLogStreams", json::object{})
                  .starts_with("InvalidParameterException: One of logGroupName"));
  EXPECT_EQ(Messages(Good("GetLogEvents", {{"logStreamName", "s"},
                                           {"logGroupIdentifier",
                                            "arn:aws:logs:us-west-2:123456789012:log-group:g"}})),
            "");
}

// SDK v2 asks again and again, without the token, while an answer has one.
TEST_F(LogsTest, StreamsThatFitThePageComeWithoutAToken) {
  for (int i = 1; i <= 3; ++i) MakeStream("g", fmt::format("job/algo-{}", i));
  MakeStream("g", "job-2/algo-1");
  json::object input{{"logGroupName", "g"},
                     {"logStreamNamePrefix", "job/"},
                     {"orderBy", "LogStreamName"},
                     {"limit", 3}};
  json::object page = Good("DescribeLogStreams", input);
  EXPECT_EQ(Names(page), "job/algo-1 job/algo-2 job/algo-3 ");
  EXPECT_FALSE(page.contains("nextToken"));
  input["limit"] = 2;
  page = Good("DescribeLogStreams", input);
  EXPECT_EQ(Names(page), "job/algo-1 job/algo-2 ");
  input["nextToken"] = page["nextToken"];
  page = Good("DescribeLogStreams", input);
  EXPECT_EQ(Names(page), "job/algo-3 ");
  EXPECT_FALSE(page.contains("nextToken"));
  EXPECT_EQ(GetString(FindArray(page, "logStreams")->at(0).get_object(), "arn"),
            "arn:aws:logs:us-west-2:123456789012:log-group:g:log-stream:job/algo-3");
}

TEST_F(LogsTest, StreamsByLastEventTime) {
  for (const char* stream : {"a", "b", "c"}) MakeStream("g", stream);
  Put("a", {"x"}, kStart + 2'000);
  Put("b", {"x"}, kStart + 1'000);
  json::object input{
      {"logGroupName", "g"}, {"orderBy", "LastEventTime"}, {"descending", true}, {"limit", 2}};
  json::object page = Good("DescribeLogStreams", input);
  EXPECT_EQ(Names(page), "a b ");
  input["nextToken"] = page["nextToken"];
  EXPECT_EQ(Names(Good("DescribeLogStreams", input)), "c ");
  input["logStreamNamePrefix"] = "a";
  EXPECT_EQ(Bad("DescribeLogStreams", input),
            "InvalidParameterException: Cannot order by LastEventTime with a logStreamNamePrefix.");
  EXPECT_EQ(Names(Good("DescribeLogStreams", {{"logGroupName", "g"}, {"descending", true}})),
            "c b a ");
}

TEST_F(LogsTest, GroupsAreMadeListedAndDeleted) {
  for (const char* group : {"/a/1", "/a/2", "/b"})
    Good("CreateLogGroup", {{"logGroupName", group}});
  EXPECT_EQ(Bad("CreateLogGroup", {{"logGroupName", "/b"}}),
            "ResourceAlreadyExistsException: The specified log group already exists");
  json::object page = Good("DescribeLogGroups", {{"logGroupNamePrefix", "/a"}, {"limit", 1}});
  const json::object& group = FindArray(page, "logGroups")->at(0).get_object();
  EXPECT_EQ(GetString(group, "logGroupName"), "/a/1");
  EXPECT_GT(GetInt(group, "creationTime"), 0);
  EXPECT_EQ(GetInt(group, "storedBytes", -1), 0);
  page = Good("DescribeLogGroups",
              {{"logGroupNamePrefix", "/a"}, {"limit", 1}, {"nextToken", page["nextToken"]}});
  EXPECT_EQ(GetString(FindArray(page, "logGroups")->at(0).get_object(), "logGroupName"), "/a/2");
  EXPECT_FALSE(page.contains("nextToken"));
  Good("DeleteLogGroup", {{"logGroupName", "/b"}});
  EXPECT_EQ(Bad("DeleteLogGroup", {{"logGroupName", "/b"}}),
            "ResourceNotFoundException: The specified log group does not exist.");
  EXPECT_EQ(Bad("CreateLogStream", {{"logGroupName", "/b"}, {"logStreamName", "s"}}),
            "ResourceNotFoundException: The specified log group does not exist.");
  EXPECT_TRUE(Bad("CreateLogGroup", {{"logGroupName", "/k"}, {"kmsKeyId", "k"}})
                  .starts_with("InvalidParameterException: kmsKeyId is not supported"));
}

TEST_F(LogsTest, HostileNamesStayBelowTheLogDirectory) {
  MakeStream("../../g", "../../s");
  EXPECT_FALSE(std::filesystem::exists(directory_.path().parent_path() / "g"));
  EXPECT_EQ(
      Messages(Good("GetLogEvents", {{"logGroupName", "../../g"}, {"logStreamName", "../../s"}})),
      "");
  Good("DeleteLogStream", {{"logGroupName", "../../g"}, {"logStreamName", "../../s"}});
  EXPECT_TRUE(std::filesystem::exists(directory_.path()));
}

TEST_F(LogsTest, PutRefusesDisorderAndDropsWhatIsTooOldOrNew) {
  MakeStream("g", "s");
  const auto put = [](json::array events) {
    return json::object{
        {"logGroupName", "g"}, {"logStreamName", "s"}, {"logEvents", std::move(events)}};
  };
  const auto event = [](std::int64_t time) {
    return json::object{{"timestamp", time}, {"message", "m"}};
  };
  EXPECT_EQ(Bad("PutLogEvents", put({event(kStart), event(kStart - 1)})),
            "InvalidParameterException: Log events in a single PutLogEvents request must be in "
            "chronological order.");
  EXPECT_TRUE(Bad("PutLogEvents", put({event(kStart - 90'000'000), event(kStart)}))
                  .starts_with("InvalidParameterException: The batch of log events"));
  EXPECT_TRUE(Bad("PutLogEvents", put({json::object{{"timestamp", kStart},
                                                    {"message", std::string(300'000, 'x')}}}))
                  .starts_with("InvalidParameterException: Log event too large"));
  json::object answer = Good("PutLogEvents", put({event(kStart - 15LL * 86'400'000)}));
  EXPECT_EQ(GetInt(*FindObject(answer, "rejectedLogEventsInfo"), "tooOldLogEventEndIndex"), 1);
  answer = Good("PutLogEvents", put({event(kStart), event(kStart + 3 * 3'600'000)}));
  EXPECT_EQ(GetInt(*FindObject(answer, "rejectedLogEventsInfo"), "tooNewLogEventStartIndex"), 1);
  EXPECT_EQ(Messages(Get({{"startFromHead", true}})), "m ");
}

TEST_F(LogsTest, FilterSearchesStreamsByPatternTimeAndPrefix) {
  for (const char* stream : {"job/algo-1", "job/algo-2", "other"}) MakeStream("g", stream);
  Put("job/algo-1", {"ERROR one", "fine"});
  Put("job/algo-2", {"WARN", "ERROR two"}, kStart - 10'000);
  Put("other", {"ERROR three"});
  json::object input{
      {"logGroupName", "g"}, {"logStreamNamePrefix", "job/"}, {"filterPattern", "ERROR"}};
  json::object page = Good("FilterLogEvents", input);
  EXPECT_EQ(Messages(page), "ERROR two ERROR one ") << "in order of time";
  EXPECT_FALSE(page.contains("nextToken"));
  input["endTime"] = kStart - 9'000;  // inclusive
  EXPECT_EQ(Messages(Good("FilterLogEvents", input)), "ERROR two ");
  EXPECT_EQ(Messages(Good("FilterLogEvents",
                          {{"logGroupName", "g"}, {"logStreamNames", json::array{"other"}}})),
            "ERROR three ");
  EXPECT_EQ(
      Bad("FilterLogEvents", {{"logGroupName", "g"}, {"logStreamNames", json::array{"absent"}}}),
      "ResourceNotFoundException: The specified log stream does not exist.");
  EXPECT_TRUE(Bad("FilterLogEvents", {{"logGroupName", "g"}, {"filterPattern", "{ $.x = 1 }"}})
                  .starts_with("InvalidParameterException: Invalid filter pattern: JSON patterns"));
}

TEST_F(LogsTest, FilterPagesTellEveryEventOnce) {
  for (const char* stream : {"a", "b", "c"}) {
    MakeStream("g", stream);
    Put(stream, {"1", "2", "3", "4", "5"});
  }
  json::object input{{"logGroupName", "g"}, {"limit", 4}};
  std::set<std::string> ids;
  std::size_t events = 0;
  for (int page = 0; page < 10; ++page) {
    const json::object answer = Good("FilterLogEvents", input);
    for (const json::value& event : *FindArray(answer, "events")) {
      ids.insert(GetString(event.get_object(), "eventId"));
      ++events;
    }
    if (!answer.contains("nextToken")) break;
    input["nextToken"] = answer.at("nextToken");
  }
  EXPECT_EQ(events, 15u);
  EXPECT_EQ(ids.size(), 15u);
}

TEST(LogText, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(ToUtf8("plain \xC3\xA9"), "plain \xC3\xA9");
  EXPECT_EQ(ToUtf8("a\xFF"
                   "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(ToUtf8("\xC3"), "\xEF\xBF\xBD");
  EXPECT_TRUE(IsUtf8(ToUtf8("\xE2\x82\xF0\x9F\x98\x80\x80")));
}

}  // namespace
}  // namespace sabia::api
