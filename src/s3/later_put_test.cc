// Goal: a PUT that is answered from its commit answers as one that is waited for.
#include <gtest/gtest.h>

#include <future>
#include <utility>

#include "s3/testing/s3_fixture.h"
#include "wire/watched_exchange.h"

namespace sabia::s3 {
namespace {

class LaterPutTest : public testing::S3Fixture {
 protected:
  wire::Response PutLater(const std::string& content, const std::string& condition = "") {
    wire::RequestHead head;
    head.method = "PUT";
    head.raw_path = "/bkt/key";
    head.headers.Add("Host", "127.0.0.1:9000");
    if (!condition.empty()) head.headers.Add("If-None-Match", condition);
    wire::FakeExchange taken(head, "");
    taken.answers_later = true;
    // Goes with the answer, so after it was sent.
    struct Signal {
      ~Signal() { gone.set_value(status); }
      std::promise<unsigned> gone;
      unsigned status = 0;
    };
    auto signal = std::make_shared<Signal>();
    std::future<unsigned> gone = signal->gone.get_future();
    wire::WatchedExchange exchange(taken, [&signal] {
      return [held = std::exchange(signal, nullptr)](unsigned status) { held->status = status; };
    });
    testing::FakeS3Body body(content);
    api_.Handle(exchange, context_, body);
    EXPECT_EQ(gone.get(), taken.answer().status);
    return taken.answer();
  }
};

TEST_F(LaterPutTest, AnswersAsAPutThatIsWaitedFor) {
  ASSERT_TRUE(store_->SetVersioning("bkt", objects::Versioning::kEnabled));
  for (const std::string& content : {std::string("small"), std::string(100'000, 'l')}) {
    const wire::Response later = PutLater(content);
    const wire::Response waited = Do({"PUT", "/bkt/other", {}, content});
    EXPECT_EQ(later.status, 200U);
    ASSERT_EQ(later.headers.fields().size(), waited.headers.fields().size());
    for (const auto& [name, value] : waited.headers.fields()) {
      EXPECT_TRUE(later.headers.Has(name)) << name;
      if (name == "x-amz-version-id") continue;
      EXPECT_EQ(later.headers.Get(name), value) << name;
    }
    EXPECT_EQ(later.headers.Get("x-amz-version-id"), store_->Head("bkt", "key")->version_id);
    EXPECT_EQ(Read("bkt", "key") == content, true);
    EXPECT_EQ(Do({"GET", "/bkt/key"}).body == content, true);
  }
}

TEST_F(LaterPutTest, RefusalsOfTheCommitAreAnsweredWithTheirDocument) {
  ASSERT_EQ(PutLater("first").status, 200U);
  const wire::Response later = PutLater("second", "*");
  const wire::Response waited = Do({"PUT", "/bkt/key", {{"If-None-Match", "*"}}, "second"});
  EXPECT_EQ(later.status, 412U);
  EXPECT_EQ(later.body, waited.body);
  EXPECT_EQ(later.headers.fields().size(), waited.headers.fields().size());
  EXPECT_EQ(Read("bkt", "key"), "first");
}

}  // namespace
}  // namespace sabia::s3
