#include "algorithms/python_text.h"

#include <gtest/gtest.h>

namespace sabia::algorithms {
namespace {

TEST(PythonText, FloatsPrintAsRepr) {
  EXPECT_EQ(PythonFloat(2), "2.0");
  EXPECT_EQ(PythonFloat(0.1), "0.1");
  EXPECT_EQ(PythonFloat(1e-5), "1e-05");
  EXPECT_EQ(PythonFloat(-0.0), "-0.0");
}

TEST(PythonText, NumbersAllowWhatPythonAllows) {
  EXPECT_EQ(ParsePythonInt(" 12\n"), 12);
  EXPECT_EQ(ParsePythonInt("+3"), 3);
  EXPECT_EQ(ParsePythonInt("1.0"), std::nullopt);
  EXPECT_EQ(ParsePythonInt(""), std::nullopt);
  EXPECT_EQ(ParsePythonInt("+"), std::nullopt);
  EXPECT_EQ(ParsePythonFloat("1e3"), 1000.0);
  EXPECT_EQ(ParsePythonFloat("1,5"), std::nullopt);
}

TEST(PythonText, TuplesAndNestedLists) {
  using Ints = std::vector<long long>;
  EXPECT_EQ(ParseIntTuple("(1, -1)"), (Ints{1, -1}));
  EXPECT_EQ(ParseIntTuple("(1,)"), Ints{1});
  EXPECT_EQ(ParseIntTuple("1,0"), (Ints{1, 0}));
  EXPECT_EQ(ParseIntTuple("()"), Ints{});
  EXPECT_EQ(ParseIntTuple("(1"), std::nullopt);
  EXPECT_EQ(ParseIntTuple("(1]"), std::nullopt);
  EXPECT_EQ(ParseIntTuple("(a)"), std::nullopt);
  EXPECT_EQ(ParseNestedInts("[[1, 2], (3,)]"), (std::vector<Ints>{{1, 2}, {3}}));
  EXPECT_EQ(ParseNestedInts("[]"), std::vector<Ints>{});
  EXPECT_EQ(ParseNestedInts("[1]"), std::nullopt);
  EXPECT_EQ(ParseNestedInts("[[1] [2]]"), std::nullopt);
  EXPECT_EQ(ParseNestedInts("[[1]"), std::nullopt);
}

}  // namespace
}  // namespace sabia::algorithms
