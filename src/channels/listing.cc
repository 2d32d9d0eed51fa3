#include "channels/listing.h"

#include <set>

#include "base/json.h"

namespace sabia::channels {
namespace {

constexpr std::size_t kPathMax = 4096;
constexpr std::size_t kComponentMax = 255;

Result<ListedObject> ParseLine(std::string_view line) {
  ASSIGN_OR_RETURN(ListedObject out, ParseListedObject(line));
  if (IsSafeRelativePath(out.path)) return out;
  return Fail(ErrorCode::kInvalidArgument, "path '{}' is not a relative path inside the channel",
              out.path);
}

Status CheckClashes(const std::vector<ListedObject>& objects) {
  std::set<std::string_view> files;
  std::set<std::string_view> directories;
  for (const ListedObject& object : objects) {
    const std::string_view path = object.path;
    if (!files.insert(path).second) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is listed twice", path);
    }
    for (auto slash = path.rfind('/'); slash != path.npos; slash = path.rfind('/', slash - 1)) {
      if (!directories.insert(path.substr(0, slash)).second) break;  // its parents are known too
    }
  }
  for (const std::string_view path : files) {
    if (directories.contains(path)) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is both an object and a folder", path);
    }
  }
  return {};
}

}  // namespace

bool IsSafeRelativePath(std::string_view path) {
  if (path.empty() || path.size() > kPathMax || path.find('\0') != path.npos) return false;
  while (true) {
    const auto slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (component.size() > kComponentMax) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Result<ListedObject> ParseListedObject(std::string_view line) {
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(line));
  ListedObject out;
  out.path = GetString(document, "path");
  out.blob = GetString(document, "blob");
  out.bucket = GetString(document, "bucket");
  out.key = GetString(document, "key");
  out.etag = GetString(document, "etag");
  out.modified = FromUnixMillis(GetInt(document, "modified", 0));
  const std::int64_t size = GetInt(document, "size", -1);
  if (size < 0) return Fail(ErrorCode::kInvalidArgument, "member 'size' is missing or negative");
  out.size = static_cast<std::uint64_t>(size);
  if (!out.local() && (out.bucket.empty() || out.key.empty())) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' has neither a blob nor a bucket and key",
                out.path);
  }
  if (out.local() && out.blob.front() != '/') {
    return Fail(ErrorCode::kInvalidArgument, "blob '{}' is not an absolute path", out.blob);
  }
  return out;
}

Result<std::vector<ListedObject>> ParseListing(std::string_view text) {
  std::vector<ListedObject> out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.empty()) continue;
    auto object = ParseLine(line);
    if (!object)
      return Wrap(std::move(object).error(), fmt::format("line {} of the listing", number));
    out.push_back(std::move(*object));
  }
  RETURN_IF_ERROR(CheckClashes(out));
  return out;
}

}  // namespace sabia::channels
