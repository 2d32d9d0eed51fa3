#include "wire/s3_uri.h"

#include <algorithm>

namespace sabia::wire {
namespace {

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

bool IsBucketName(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return false;
  if (!IsAlphanumeric(name.front()) || !IsAlphanumeric(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '.'; });
}

Result<S3Location> ParseS3Uri(std::string_view uri) {
  constexpr std::string_view kS3 = "s3://";
  constexpr std::string_view kHttps = "https://";
  std::string_view rest = uri;
  if (rest.starts_with(kS3)) {
    rest.remove_prefix(kS3.size());
  } else if (rest.starts_with(kHttps)) {
    rest.remove_prefix(kHttps.size());
    const std::size_t slash = rest.find('/');
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  } else {
    return Fail(ErrorCode::kInvalidArgument, "'{}' does not begin with s3://", uri);
  }
  const std::size_t slash = rest.find('/');
  S3Location where;
  where.bucket = rest.substr(0, slash);
  if (slash != std::string_view::npos) where.key = rest.substr(slash + 1);
  if (!IsBucketName(where.bucket)) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' has no valid bucket name", uri);
  }
  return where;
}

}  // namespace sabia::wire
