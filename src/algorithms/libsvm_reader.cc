#include "algorithms/libsvm_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "algorithms/python_text.h"

namespace sabia::algorithms {
namespace {

// Takes one item up to a blank off the line.
std::string_view TakeItem(std::string_view* line) {
  const std::size_t begin = std::min(line->find_first_not_of(" \t"), line->size());
  line->remove_prefix(begin);
  const std::size_t end = std::min(line->find_first_of(" \t"), line->size());
  const std::string_view item = line->substr(0, end);
  line->remove_prefix(end);
  return item;
}

bool ParseFloat(std::string_view text, float* out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, *out);
  if (error == std::errc() && after == end) return true;
  const auto wide = ParsePythonFloat(text);  // beyond a float's range, or no number
  if (!wide) return false;
  *out = static_cast<float>(*wide);
  return true;
}

template <typename Integer>
bool ParseInteger(std::string_view text, Integer* out) {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, *out);
  return error == std::errc() && after == end;
}

bool ParseLabel(std::string_view item, RowBlock* out) {
  const std::size_t colon = item.find(':');
  float label = 0;
  if (!ParseFloat(item.substr(0, colon), &label)) return false;
  out->labels.push_back(label);
  if (colon == std::string_view::npos) return true;
  float weight = 0;
  if (!ParseFloat(item.substr(colon + 1), &weight)) return false;
  out->weights.push_back(weight);
  return true;
}

// One "index:value" onto the block.
bool ParseFeature(std::string_view item, RowBlock* out) {
  const std::size_t colon = item.find(':');
  std::uint32_t index = 0;
  float value = 0;
  if (colon == std::string_view::npos || !ParseInteger(item.substr(0, colon), &index) ||
      index == std::numeric_limits<std::uint32_t>::max() ||
      !ParseFloat(item.substr(colon + 1), &value)) {
    return false;
  }
  out->indices.push_back(index);
  out->values.push_back(value);
  out->columns = std::max<std::size_t>(out->columns, std::size_t{index} + 1);
  return true;
}

Status ParseRow(const TextBlock& block, std::string_view line, bool labels, RowBlock* out) {
  const char* const begin = line.data();
  std::string_view rest = line.substr(0, line.find('#'));
  if (rest.find_first_not_of(" \t") == std::string_view::npos) return {};
  if (!labels) {
    out->labels.push_back(0);
  } else if (const std::string_view item = TakeItem(&rest); !ParseLabel(item, out)) {
    return FailAt(block, begin, fmt::format("label '{}' is not <label>[:<weight>]", Snippet(item)));
  }
  const std::size_t before = out->values.size();
  for (std::string_view item = TakeItem(&rest); !item.empty(); item = TakeItem(&rest)) {
    std::uint64_t query = 0;
    if (item.starts_with("qid:") && out->queries.size() + 1 == out->labels.size() &&
        ParseInteger(item.substr(4), &query)) {
      out->queries.push_back(query);
    } else if (!ParseFeature(item, out)) {
      return FailAt(block, begin, fmt::format("'{}' is not <index>:<value>", Snippet(item)));
    }
  }
  out->row_sizes.push_back(static_cast<std::uint32_t>(out->values.size() - before));
  return {};
}

// The image looks at the first line alone before it starts, and words the refusal so.
Status CheckFirstLine(const NamedText& named, bool labels) {
  const std::string_view line = named.text.substr(0, named.text.find('\n'));
  const TextBlock block{&named, line};
  RowBlock ignored;
  const Status status = ForEachLine(
      line, [&](std::string_view text) { return ParseRow(block, text, labels, &ignored); });
  if (status) return {};
  return Fail(
      ErrorCode::kInvalidArgument,
      "First line '{}...' of file '{}' is not 'LIBSVM' format. Please ensure the file is in "
      "'LIBSVM' format.",
      Snippet(line), named.name);
}

}  // namespace

Result<DataTable> ReadLibsvm(const std::vector<NamedText>& texts, LibsvmOptions options) {
  for (const NamedText& named : texts) RETURN_IF_ERROR(CheckFirstLine(named, options.labels));
  const BlockParser parse = [&](const TextBlock& block, RowBlock* out) {
    return ForEachLine(block.text, [&](std::string_view line) {
      return ParseRow(block, line, options.labels, out);
    });
  };
  ASSIGN_OR_RETURN(std::vector<RowBlock> blocks, ParseBlocks(texts, parse, options.threads));
  return JoinBlocks(std::move(blocks), true);
}

}  // namespace sabia::algorithms
