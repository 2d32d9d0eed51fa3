#include "base/csv.h"

#include <algorithm>

namespace sabia {
namespace {

std::string_view CutLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> Split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Status ReadCsv(std::string_view text, std::string_view header,
               const std::function<Status(const std::vector<std::string_view>&)>& record) {
  if (CutLine(text) != header) {
    return Fail(ErrorCode::kCorrupt, "line 1: the header is not '{}'", header);
  }
  const auto width = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
  for (int number = 2; !text.empty(); ++number) {
    const std::string_view line = CutLine(text);
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = Split(line);
    if (fields.size() != width) {
      return Fail(ErrorCode::kCorrupt, "line {}: {} fields instead of {}", number, fields.size(),
                  width);
    }
    if (Status done = record(fields); !done) {
      return Fail(ErrorCode::kCorrupt, "line {}: {}", number, done.error().message);
    }
  }
  return {};
}

}  // namespace sabia
