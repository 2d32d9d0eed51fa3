#include "algorithms/python_text.h"

#include <fmt/format.h>

#include <charconv>

namespace sabia::algorithms {
namespace {

template <typename Text>
std::string QuoteAll(std::span<const Text> values) {
  std::string result = "[";
  for (const Text& value : values) {
    if (result.size() > 1) result += ", ";
    result += fmt::format("'{}'", value);
  }
  return result + "]";
}

// The text between a matching pair of brackets, or the text itself.
std::optional<std::string_view> Unwrap(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return std::nullopt;
  const bool opens = text.front() == '(' || text.front() == '[';
  const bool closes = text.back() == ')' || text.back() == ']';
  if (opens != closes) return std::nullopt;
  if (!opens) return text;
  if ((text.front() == '(') != (text.back() == ')') || text.size() < 2) return std::nullopt;
  return Trim(text.substr(1, text.size() - 2));
}

}  // namespace

std::string PythonFloat(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string PythonList(std::span<const std::string_view> values) { return QuoteAll(values); }
std::string PythonList(std::span<const std::string> values) { return QuoteAll(values); }

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<long long> ParsePythonInt(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParsePythonFloat(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::vector<long long>> ParseIntTuple(std::string_view text) {
  const auto inner = Unwrap(text);
  if (!inner) return std::nullopt;
  std::string_view rest = *inner;
  if (rest.ends_with(',')) rest.remove_suffix(1);  // (1,)
  std::vector<long long> values;
  if (Trim(rest).empty()) return values;
  for (const std::string& part : SplitText(rest, ',')) {
    const auto value = ParsePythonInt(part);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<std::vector<std::vector<long long>>> ParseNestedInts(std::string_view text) {
  text = Trim(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = Trim(text.substr(1, text.size() - 2));
  std::vector<std::vector<long long>> lists;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("])");
    if ((text.front() != '[' && text.front() != '(') || end == std::string_view::npos) {
      return std::nullopt;
    }
    auto list = ParseIntTuple(text.substr(0, end + 1));
    if (!list) return std::nullopt;
    lists.push_back(std::move(*list));
    text = Trim(text.substr(end + 1));
    if (text.empty()) break;
    if (text.front() != ',') return std::nullopt;
    text = Trim(text.substr(1));
  }
  return lists;
}

}  // namespace sabia::algorithms
