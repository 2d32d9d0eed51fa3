#include "algorithms/libsvm_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace sabia::algorithms {
namespace {

Result<DataTable> Read(const std::string& text) {
  return ReadLibsvm({{"a.svm", text}}, {.threads = 2});
}

std::string Problem(const std::string& text) {
  const auto table = Read(text);
  return table ? "accepted" : table.error().message;
}

TEST(Libsvm, IndicesAreUsedAsGiven) {
  const auto table = Read("1 2:1.5 5:-2\n0 # nothing\n\n3 0:7 # first\r\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->rows, 3u);
  EXPECT_EQ(table->columns, 6u);
  EXPECT_EQ(table->labels, (std::vector<float>{1, 0, 3}));
  EXPECT_EQ(table->offsets, (std::vector<std::uint64_t>{0, 2, 2, 3}));
  EXPECT_EQ(table->indices, (std::vector<std::uint32_t>{2, 5, 0}));
  EXPECT_EQ(table->values, (std::vector<float>{1.5f, -2, 7}));
}

TEST(Libsvm, WeightsAndQueries) {
  const auto table = Read("1:0.5 qid:7 1:1\n0:2 qid:7 1:2\n1:1 qid:9 1:3\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->weights, (std::vector<float>{0.5f, 2, 1}));
  EXPECT_EQ(table->groups, (std::vector<std::uint32_t>{2, 1}));
}

TEST(Libsvm, AllRowsOrNoneHaveWeights) {
  EXPECT_EQ(Problem("1:0.5 1:1\n0 1:2\n"), "1 of 2 rows have a weight, the others have none");
  EXPECT_EQ(Problem("1 qid:1 1:1\n0 1:2\n"), "1 of 2 rows have a query id, the others have none");
}

TEST(Libsvm, TheFirstLineIsRefusedInTheImagesWords) {
  EXPECT_EQ(Problem("1,2,3\n"),
            "First line '1,2,3...' of file 'a.svm' is not 'LIBSVM' format. Please ensure the file "
            "is in 'LIBSVM' "
            "format.");
  EXPECT_TRUE(Problem("1 2 3\n").starts_with("First line '1 2 3...'"));
  EXPECT_TRUE(Problem("1:2:3 4:5\n").starts_with("First line"));
}

TEST(Libsvm, LaterLinesAreNamed) {
  EXPECT_EQ(Problem("1 1:1\nyes 1:1\n"),
            "line 2 of file 'a.svm': label 'yes' is not <label>[:<weight>]");
  EXPECT_EQ(Problem("1 1:1\n1 1:one\n"), "line 2 of file 'a.svm': '1:one' is not <index>:<value>");
  EXPECT_EQ(Problem("1 1:1\n1 -1:2\n"), "line 2 of file 'a.svm': '-1:2' is not <index>:<value>");
  EXPECT_EQ(Problem("1 1:1\n1 4294967295:2\n"),
            "line 2 of file 'a.svm': '4294967295:2' is not <index>:<value>");
  EXPECT_EQ(Problem("1 1:1\n1 7\n"), "line 2 of file 'a.svm': '7' is not <index>:<value>");
}

TEST(Libsvm, RowsToPredictStartWithAFeature) {
  const auto table = ReadLibsvm({{"a", "1:2 3:4\n1:5\n"}}, {.labels = false});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows, 2u);
  EXPECT_EQ(table->columns, 4u);
}

}  // namespace
}  // namespace sabia::algorithms
