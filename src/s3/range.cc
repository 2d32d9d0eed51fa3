#include "s3/range.h"

#include <algorithm>
#include <charconv>

namespace sabia::s3 {
namespace {

constexpr std::string_view kUnit = "bytes=";

struct Ends {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;
};

// The whole text as a number; numbers beyond 64 bits count as the greatest.
std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t out = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  if (at != end || text.empty() || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc::result_out_of_range ? UINT64_MAX : out;
}

std::optional<Ends> ParseEnds(std::string_view header) {
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first = header.substr(0, dash);
  const std::string_view last = header.substr(dash + 1);
  Ends out{ParseNumber(first), ParseNumber(last)};
  if ((!first.empty() && !out.first) || (!last.empty() && !out.last)) return std::nullopt;
  if (!out.first && !out.last) return std::nullopt;
  return out;
}

tl::unexpected<wire::AwsError> Unsatisfiable() {
  return wire::Refuse("InvalidRange", 416, "The requested range is not satisfiable");
}

}  // namespace

wire::AwsResult<std::optional<ByteRange>> ParseRange(std::string_view header, std::uint64_t size) {
  const std::optional<Ends> ends = ParseEnds(header);
  if (!ends) return std::nullopt;
  if (!ends->first) {  // the last so many bytes
    const std::uint64_t length = std::min(*ends->last, size);
    if (length == 0) return Unsatisfiable();
    return ByteRange{size - length, length};
  }
  if (ends->last && *ends->last < *ends->first) return std::nullopt;
  if (*ends->first >= size) return Unsatisfiable();
  const std::uint64_t last = std::min(ends->last.value_or(size - 1), size - 1);
  return ByteRange{*ends->first, last - *ends->first + 1};
}

wire::AwsResult<ByteRange> ParseCopyRange(std::string_view header, std::uint64_t size) {
  const std::optional<Ends> ends = ParseEnds(header);
  if (!ends || !ends->first || !ends->last || *ends->last < *ends->first) {
    return wire::Refuse("InvalidArgument", 400,
                        "The x-amz-copy-source-range value must be of the form bytes=first-last "
                        "where first and last are the zero-based offsets of the first and last "
                        "bytes to copy");
  }
  if (*ends->last >= size) {
    return wire::Refuse("InvalidArgument", 400,
                        "Range specified is not valid for source object of size: {}", size);
  }
  return ByteRange{*ends->first, *ends->last - *ends->first + 1};
}

}  // namespace sabia::s3
