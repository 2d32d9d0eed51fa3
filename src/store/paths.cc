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

std::string CheckedName(std::string_view name) {
  CHECK_MSG(Paths::FitsLogName(name), std::string(name));
  return EncodeName(name);
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

env::Path Paths::log_group(std::string_view group) const { return logs() / CheckedName(group); }

env::Path Paths::log_stream(std::string_view group, std::string_view stream) const {
  return log_group(group) / (CheckedName(stream) + ".log");
}

bool Paths::FitsLogName(std::string_view name) {
  return !name.empty() && EncodeName(name).size() <= kComponentMax;
}

}  // namespace sabia::store
