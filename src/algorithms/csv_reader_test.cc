#include "algorithms/csv_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace sabia::algorithms {
namespace {

Result<DataTable> Read(const std::string& text, CsvOptions options = {}) {
  return ReadCsv({{"a.csv", text}}, ',', options);
}

std::string Problem(const std::string& text, CsvOptions options = {}) {
  const auto table = Read(text, options);
  return table ? "accepted" : table.error().message;
}

TEST(Csv, LabelComesFirst) {
  const auto table = Read("1,2.5,-3\r\n0,+4,5e-1\n\n7,8,9");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->rows, 3u);
  EXPECT_EQ(table->columns, 2u);
  EXPECT_EQ(table->labels, (std::vector<float>{1, 0, 7}));
  EXPECT_EQ(table->values, (std::vector<float>{2.5f, -3, 4, 0.5f, 8, 9}));
  EXPECT_TRUE(table->weights.empty());
}

TEST(Csv, WeightsComeSecond) {
  const auto table = Read("1,0.2,5\n0,0.8,6\n", {.weights = true});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->weights, (std::vector<float>{0.2f, 0.8f}));
  EXPECT_EQ(table->values, (std::vector<float>{5, 6}));
}

TEST(Csv, EmptyFieldsAreMissing) {
  const auto table = Read("1,,3\n2, ,\n3,nan,1");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->values.size(), 6u);
  EXPECT_TRUE(std::isnan(table->values[0]));
  EXPECT_EQ(table->values[1], 3);
  EXPECT_TRUE(std::isnan(table->values[2]));
  EXPECT_TRUE(std::isnan(table->values[3]));
  EXPECT_TRUE(std::isnan(table->values[4]));
}

TEST(Csv, NumbersBeyondAFloatBecomeWhatACastMakes) {
  const auto table = Read("1,1e-60,2\n1,1e60,3\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->values[0], 0);
  EXPECT_TRUE(std::isinf(table->values[2]));
}

TEST(Csv, NamesTheBadField) {
  EXPECT_EQ(Problem("label,a,b\n1,2,3\n"),
            "line 1 of file 'a.csv': column 1 'label' is not a number");
  EXPECT_EQ(Problem("1,2,3\n1,2x,3\n"), "line 2 of file 'a.csv': column 2 '2x' is not a number");
  EXPECT_EQ(Problem("1,2,3\n\n1,\"2\",3\n"),
            "line 3 of file 'a.csv': column 2 '\"2\"' is not a number");
  EXPECT_EQ(Problem("1,2,3\n,2,3\n"), "line 2 of file 'a.csv': the label is missing");
  EXPECT_EQ(Problem("1,,3\n", {.weights = true}), "line 1 of file 'a.csv': the weight is missing");
}

TEST(Csv, RowsAreAsWideAsTheFirst) {
  EXPECT_EQ(Problem("1,2,3\n1,2\n"),
            "line 2 of file 'a.csv': 2 columns where the first line has 3");
  EXPECT_EQ(Problem("1,2,3\n1,2,3,4\n"),
            "line 2 of file 'a.csv': 4 columns where the first line has 3");
  EXPECT_EQ(Problem("1\n2\n"), "the first line has 1 columns, at least 2 are needed");
  EXPECT_EQ(ReadCsv({{"a", "1,2,3\n"}, {"b", "1,2\n"}}, ',', {}).error().message,
            "line 1 of file 'b': 2 columns where the first line has 3");
}

TEST(Csv, ManyBlocksOnManyThreadsKeepTheOrder) {
  std::string text;
  for (int i = 0; i < 300'000; ++i)
    text += std::to_string(i) + "," + std::to_string(i % 97) + ",0.5\n";
  const auto one = Read(text);
  const auto four = Read(text, {.threads = 4});
  ASSERT_TRUE(one && four);
  EXPECT_EQ(one->labels, four->labels);
  EXPECT_EQ(one->values, four->values);
  EXPECT_EQ(four->labels[299'999], 299'999);
  EXPECT_EQ(Problem(text + "x,1,1\n", {.threads = 4}),
            "line 300001 of file 'a.csv': column 1 'x' is not a number");
}

TEST(Csv, RowsToPredictHaveNoLabel) {
  const auto table = Read("1,2\n3,4\n", {.labels = false});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns, 2u);
  EXPECT_EQ(table->rows, 2u);
}

TEST(SniffDelimiter, FindsTheUsualOnes) {
  EXPECT_EQ(SniffDelimiter("1,2.5,3"), ',');
  EXPECT_EQ(SniffDelimiter("1\t2\t3\r"), '\t');
  EXPECT_EQ(SniffDelimiter("1;2;3"), ';');
  EXPECT_EQ(SniffDelimiter("1 2 3"), ' ');
  EXPECT_EQ(SniffDelimiter("1|2|3"), '|');
  EXPECT_EQ(SniffDelimiter("1,,3"), ',');
}

TEST(SniffDelimiter, QuotesTheLineItCannotCut) {
  EXPECT_EQ(SniffDelimiter("rings").error().message,
            "Could not determine delimiter on line rings:\nCould not determine delimiter");
  EXPECT_FALSE(SniffDelimiter("a,b,c"));
  EXPECT_FALSE(SniffDelimiter("5"));
}

}  // namespace
}  // namespace sabia::algorithms
