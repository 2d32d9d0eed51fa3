// Values as Python prints and reads them: the image's messages quote them so, and two
// hyperparameters are Python literals. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabia::algorithms {

// repr() of a float: 2.0, 0.1, 1e-05, inf.
std::string PythonFloat(double value);
// repr() of a list of strings: ['a', 'b'].
std::string PythonList(std::span<const std::string_view> values);
std::string PythonList(std::span<const std::string> values);

// int(text) and float(text): surrounding blanks and a sign are allowed. Nothing where Python raises
// ValueError.
std::optional<long long> ParsePythonInt(std::string_view text);
std::optional<double> ParsePythonFloat(std::string_view text);

// "(1, -1)", "(1,)", "1, -1" and "[1, -1]".
std::optional<std::vector<long long>> ParseIntTuple(std::string_view text);
// "[[1, 2], [3]]"; tuples are fine too.
std::optional<std::vector<std::vector<long long>>> ParseNestedInts(std::string_view text);

std::string_view Trim(std::string_view text);
std::vector<std::string> SplitText(std::string_view text, char separator);

}  // namespace sabia::algorithms
