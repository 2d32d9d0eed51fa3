#include "algorithms/csv_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "algorithms/python_text.h"

namespace sabia::algorithms {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// Number of fields when each is a number or empty, otherwise 0.
std::size_t CountNumbers(std::string_view line, char delimiter) {
  std::size_t fields = 0;
  bool any = false;
  for (const std::string& field : SplitText(line, delimiter)) {
    const std::string_view text = Trim(field);
    if (!text.empty() && !ParsePythonFloat(text)) return 0;
    any = any || !text.empty();
    ++fields;
  }
  return any ? fields : 0;
}

// Parses the field at `p`, which ends at a delimiter or `end`, and leaves `p` behind it. False when
// it is no number.
bool ParseField(const char*& p, const char* end, char delimiter, float* out) {
  while (p != end && *p == ' ' && delimiter != ' ') ++p;
  if (p == end || *p == delimiter) {
    *out = kMissing;
    return true;
  }
  if (*p == '+') ++p;
  const auto [after, error] = std::from_chars(p, end, *out);
  if (error == std::errc::result_out_of_range) {
    double wide = 0;  // too small or too large for a float: what a cast would make of it
    std::from_chars(p, after, wide);
    *out = static_cast<float>(wide);
  } else if (error != std::errc()) {
    return false;
  }
  p = after;
  while (p != end && *p == ' ' && delimiter != ' ') ++p;
  return p == end || *p == delimiter;
}

class CsvParser {
 public:
  CsvParser(char delimiter, CsvOptions options, std::size_t width)
      : delimiter_(delimiter), options_(options), width_(width) {}

  Status Parse(const TextBlock& block, RowBlock* out) const {
    const std::size_t lead = (options_.labels ? 1 : 0) + (options_.weights ? 1 : 0);
    out->columns = width_ - lead;
    return ForEachLine(block.text,
                       [&](std::string_view line) { return ParseRow(block, line, out); });
  }

 private:
  Status ParseRow(const TextBlock& block, std::string_view line, RowBlock* out) const {
    const char* p = line.data();
    const char* const end = p + line.size();
    std::size_t column = 0;
    for (;; ++p) {
      const char* const begin = p;
      float value = 0;
      if (!ParseField(p, end, delimiter_, &value)) return BadField(block, {begin, end}, column);
      if (column < width_) RETURN_IF_ERROR(Put(block, begin, column, value, out));
      ++column;
      if (p == end) break;
    }
    if (column != width_) {
      return FailAt(block, line.data(),
                    fmt::format("{} columns where the first line has {}", column, width_));
    }
    if (!options_.labels) out->labels.push_back(0);
    return {};
  }

  Status Put(const TextBlock& block, const char* at, std::size_t column, float value,
             RowBlock* out) const {
    const bool label = options_.labels && column == 0;
    const bool weight = options_.weights && column == 1;
    if (!label && !weight) {
      out->values.push_back(value);
      return {};
    }
    if (value != value)
      return FailAt(block, at, label ? "the label is missing" : "the weight is missing");
    (label ? out->labels : out->weights).push_back(value);
    return {};
  }

  Status BadField(const TextBlock& block, std::string_view rest, std::size_t column) const {
    const std::string_view field = rest.substr(0, rest.find(delimiter_));
    return FailAt(block, rest.data(),
                  fmt::format("column {} '{}' is not a number", column + 1, Snippet(field)));
  }

  const char delimiter_;
  const CsvOptions options_;
  const std::size_t width_;
};

}  // namespace

Result<char> SniffDelimiter(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  char best = 0;
  std::size_t most = 1;  // one field has no delimiter
  for (const char candidate : {',', '\t', ';', ' ', ':', '|'}) {
    const std::size_t fields = CountNumbers(candidate == ' ' ? Trim(line) : line, candidate);
    if (fields > most) {
      most = fields;
      best = candidate;
    }
  }
  if (best != 0) return best;
  return Fail(ErrorCode::kInvalidArgument,
              "Could not determine delimiter on line {}:\nCould not determine delimiter",
              Snippet(line));
}

Result<DataTable> ReadCsv(const std::vector<NamedText>& texts, char delimiter, CsvOptions options) {
  std::size_t width = 0;
  for (const NamedText& named : texts) {
    RETURN_IF_ERROR(ForEachLine(named.text.substr(0, width == 0 ? named.text.find('\n') : 0),
                                [&](std::string_view line) -> Status {
                                  width = 1 + static_cast<std::size_t>(
                                                  std::count(line.begin(), line.end(), delimiter));
                                  return {};
                                }));
  }
  const std::size_t least = 1 + (options.labels ? 1 : 0) + (options.weights ? 1 : 0);
  if (width < least) {
    return Fail(ErrorCode::kInvalidArgument,
                "the first line has {} columns, at least {} are needed", width, least);
  }
  const CsvParser parser(delimiter, options, width);
  ASSIGN_OR_RETURN(
      std::vector<RowBlock> blocks,
      ParseBlocks(
          texts, [&](const TextBlock& block, RowBlock* out) { return parser.Parse(block, out); },
          options.threads));
  return JoinBlocks(std::move(blocks), false);
}

}  // namespace sabia::algorithms
