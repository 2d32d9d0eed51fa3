#include "s3/slow_answer.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Lets the work wait for what was sent.
class Watched final : public wire::Exchange {
 public:
  const wire::RequestHead& head() const override { return inner_.head(); }
  wire::BodyReader& body() override { return inner_.body(); }
  Status Send(const wire::Response& response) override { return inner_.Send(response); }
  Status Begin(unsigned status, const wire::Headers& headers, std::uint64_t length) override {
    return inner_.Begin(status, headers, length);
  }
  Status BeginChunked(unsigned status, const wire::Headers& headers) override {
    return inner_.BeginChunked(status, headers);
  }
  Status Write(std::string_view data) override {
    const std::lock_guard lock(mutex_);
    ++writes_;
    changed_.notify_all();
    return inner_.Write(data);
  }
  Status End() override { return inner_.End(); }
  Status SendFile(int, std::uint64_t, std::uint64_t) override { return {}; }
  bool answered() const override { return inner_.answered(); }

  void AwaitWrites(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return writes_ >= count; });
  }
  const wire::FakeExchange& inner() const { return inner_; }

 private:
  wire::FakeExchange inner_{{}, ""};
  std::mutex mutex_;
  std::condition_variable changed_;
  int writes_ = 0;
};

class SlowAnswerTest : public testing::S3Fixture {
 protected:
  testing::FakeS3Body body_{""};
  wire::Headers none_;
  Watched exchange_;
  const S3ApiOptions options_;
  S3Call call_{options_, *store_, exchange_, context_, body_, {}, {}, none_};
};

XmlAnswer Done() {
  XmlAnswer answer{XmlWriter("Done").Finish(), {}};
  answer.headers.Add("X-Known", "late");
  return answer;
}

TEST_F(SlowAnswerTest, AQuickOneIsAsAlways) {
  ASSERT_TRUE(AnswerXmlWhenDone(call_, [] { return Done(); }));
  EXPECT_THAT(exchange_.inner().answer().body, StartsWith("<?xml"));
  EXPECT_EQ(exchange_.inner().answer().headers.Get("X-Known"), "late");
  EXPECT_FALSE(exchange_.inner().ended());
}

TEST_F(SlowAnswerTest, AQuickFailureKeepsItsStatus) {
  const auto result = AnswerXmlWhenDone(call_, []() -> wire::AwsResult<XmlAnswer> {
    return wire::Refuse("NoSuchUpload", 404, "gone");
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, 404u);
  EXPECT_FALSE(exchange_.answered());
}

TEST_F(SlowAnswerTest, ASlowOneIsPrecededByWhitespace) {
  const auto work = [this] {
    exchange_.AwaitWrites(3);
    return Done();
  };
  ASSERT_TRUE(AnswerXmlWhenDone(call_, work, Millis(1)));
  const wire::Response& answer = exchange_.inner().answer();
  EXPECT_EQ(answer.status, 200u);
  EXPECT_TRUE(exchange_.inner().ended());
  EXPECT_THAT(answer.body, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n  "));
  EXPECT_EQ(answer.body.find("<?xml", 1), std::string::npos) << "a second declaration";
  EXPECT_THAT(answer.body, HasSubstr(" <Done"));
  EXPECT_EQ(answer.headers.Get("x-amz-request-id"), "REQUEST");
}

TEST_F(SlowAnswerTest, ASlowFailureIsADocument) {
  const auto work = [this]() -> wire::AwsResult<XmlAnswer> {
    exchange_.AwaitWrites(1);
    return wire::Refuse("InternalError", 500, "the disk is full");
  };
  ASSERT_TRUE(AnswerXmlWhenDone(call_, work, Millis(1)));
  const wire::Response& answer = exchange_.inner().answer();
  EXPECT_EQ(answer.status, 200u);
  EXPECT_THAT(answer.body, HasSubstr("<Error><Code>InternalError</Code>"));
  EXPECT_THAT(answer.body, EndsWith("</Error>"));
  EXPECT_TRUE(exchange_.inner().ended());
}

}  // namespace
}  // namespace sabia::s3
