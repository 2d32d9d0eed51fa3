#include "store/paths.h"

#include <algorithm>

#include "base/check.h"
#include "base/encoding.h"

namespace sabia::store {
namespace {

// A file name holds at most 255 bytes; ".log" and the suffix of a temporary file must fit too.
constexpr std::size_t kComponentMax = 200;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsInstanceId(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
  });
}

// A leading dot is encoded too, so that no name becomes ".", ".." or a hidden file.
std::string EncodeName(std::string_view name) {
  std::string out = UriEncode(name);
  if (out.starts_with('.')) out.replace(0, 1, "%2E");
  return out;
}

}  // namespace

env::Path Paths::blob(std::string_view blob_id) const {
  CHECK_MSG(blob_id.size() == 32 && IsHex(blob_id), std::string(blob_id));
  return blobs() / blob_id.substr(0, 2) / blob_id;
}

env::Path Paths::instance(std::string_view instance_id) const {
  CHECK_MSG(IsInstanceId(instance_id), std::string(instance_id));
  return instances() / instance_id;
}

env::Path Paths::log_group(std::string_view group) const {
  CHECK_MSG(FitsLogGroup(group), std::string(group));
  return logs() / EncodeName(group);
}

env::Path Paths::log_streams_of(std::string_view group, std::string_view head) const {
  return log_group(group) / (EncodeName(head) + ".d");
}

env::Path Paths::log_stream(std::string_view group, std::string_view stream) const {
  CHECK_MSG(FitsLogStream(stream), std::string(stream));
  const std::size_t slash = stream.find('/');
  if (slash == std::string_view::npos) return log_group(group) / (EncodeName(stream) + ".log");
  return log_streams_of(group, stream.substr(0, slash)) /
         (EncodeName(stream.substr(slash + 1)) + ".log");
}

bool Paths::FitsLogGroup(std::string_view group) {
  return !group.empty() && EncodeName(group).size() <= kComponentMax;
}

bool Paths::FitsLogStream(std::string_view stream) {
  const std::size_t slash = std::min(stream.find('/'), stream.size());
  return !stream.empty() && EncodeName(stream.substr(0, slash)).size() <= kComponentMax &&
         EncodeName(stream.substr(slash)).size() <= kComponentMax;
}

}  // namespace sabia::store
