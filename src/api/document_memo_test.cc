#include "api/document_memo.h"

#include <gtest/gtest.h>

namespace sabia::api {
namespace {

class DocumentMemoTest : public ::testing::Test {
 protected:
  std::string Get(std::string_view name, std::string_view document, bool aged = false) {
    const auto answer =
        memo_.Get({name, document, aged},
                  [this](std::string_view text) -> wire::AwsResult<wire::EncodedAnswer> {
                    ++encoded_;
                    if (text == "bad") return wire::RefuseValidation("bad document");
                    return std::make_shared<const std::string>("<" + std::string(text) + ">");
                  });
    return answer ? **answer : answer.error().message;
  }

  DocumentMemo memo_;
  int encoded_ = 0;
};

TEST_F(DocumentMemoTest, EncodesOncePerDocument) {
  EXPECT_EQ(Get("a", "one"), "<one>");
  EXPECT_EQ(Get("a", "one"), "<one>");
  EXPECT_EQ(encoded_, 1);
  EXPECT_EQ(Get("a", "two"), "<two>");
  EXPECT_EQ(encoded_, 2);
}

TEST_F(DocumentMemoTest, EncodesAnewWhenTheDocumentHasAged) {
  EXPECT_EQ(Get("a", "one", false), "<one>");
  EXPECT_EQ(Get("a", "one", true), "<one>");
  EXPECT_EQ(Get("a", "one", true), "<one>");
  EXPECT_EQ(encoded_, 2);
}

TEST_F(DocumentMemoTest, ErrorsAreNotKept) {
  EXPECT_EQ(Get("a", "bad"), "bad document");
  EXPECT_EQ(Get("a", "bad"), "bad document");
  EXPECT_EQ(encoded_, 2);
}

TEST_F(DocumentMemoTest, ManyNamesShareSlotsWithoutMixingAnswers) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5'000; ++i) {
      const std::string text = std::to_string(i);
      ASSERT_EQ(Get("job-" + text, text), "<" + text + ">");
    }
  }
}

TEST_F(DocumentMemoTest, LongDocumentsAreAnsweredAndNotKept) {
  const std::string text(DocumentMemo::kBytesMax + 1, 'x');
  EXPECT_EQ(Get("a", text), "<" + text + ">");
  EXPECT_EQ(Get("a", text), "<" + text + ">");
  EXPECT_EQ(encoded_, 2);
}

}  // namespace
}  // namespace sabia::api
