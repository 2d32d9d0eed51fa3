// Expected texts are what CPython 3.11 prints.
#include "agent/python_text.h"

#include <gtest/gtest.h>

namespace sabia::agent {
namespace {

TEST(PythonText, Floats) {
  EXPECT_EQ(PythonFloat(1.0), "1.0");
  EXPECT_EQ(PythonFloat(-0.0), "-0.0");
  EXPECT_EQ(PythonFloat(0.1), "0.1");
  EXPECT_EQ(PythonFloat(1e-4), "0.0001");
  EXPECT_EQ(PythonFloat(1e-5), "1e-05");
  EXPECT_EQ(PythonFloat(1.5e-7), "1.5e-07");
  EXPECT_EQ(PythonFloat(123456789012345.0), "123456789012345.0");
  EXPECT_EQ(PythonFloat(1e15), "1000000000000000.0");
  EXPECT_EQ(PythonFloat(1e16), "1e+16");
  EXPECT_EQ(PythonFloat(1e300), "1e+300");
  EXPECT_EQ(PythonFloat(2.0 / 3), "0.6666666666666666");
}

TEST(PythonText, DecodesAsJsonLoadsDoes) {
  EXPECT_EQ(DecodeHyperparameter("3"), json::value(3));
  EXPECT_EQ(DecodeHyperparameter("3.0"), json::value(3.0));
  EXPECT_EQ(DecodeHyperparameter("\"3\""), json::value("3"));
  EXPECT_EQ(DecodeHyperparameter("not json"), json::value("not json"));
  EXPECT_EQ(DecodeHyperparameter("01"), json::value("01"));
  EXPECT_EQ(DecodeHyperparameter(""), json::value(""));
  EXPECT_EQ(ArgumentText(DecodeHyperparameter("NaN")), "nan");
  EXPECT_EQ(PythonJson(DecodeHyperparameter("-Infinity")), "-Infinity");
}

TEST(PythonText, Repr) {
  const auto repr = [](std::string_view text) { return PythonRepr(*ParseJson(text)); };
  EXPECT_EQ(repr(R"({"a": [true, null, "it's", "\"q\""]})"),
            R"({'a': [True, None, "it's", '"q"']})");
  EXPECT_EQ(repr(R"(["a\nb\t\\", "'\""])"), R"(['a\nb\t\\', '\'"'])");
  EXPECT_EQ(repr("[]"), "[]");
}

TEST(PythonText, JsonIsCompactSortedAndKeepsUnicode) {
  EXPECT_EQ(PythonJson(*ParseJson(R"({"b": 1.0, "a": "ü\u0001\"", "c": [1, 2]})")),
            R"({"a":"ü\u0001\"","b":1.0,"c":[1,2]})");
}

TEST(PythonText, ShellQuote) {
  EXPECT_EQ(ShellQuote("plain-1.0/x"), "plain-1.0/x");
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's $(x)"), "'it'\"'\"'s $(x)'");
}

}  // namespace
}  // namespace sabia::agent
