#include "channels/checkpoint_sets.h"

#include "base/json.h"

namespace sabia::channels {
namespace {

constexpr std::size_t kContentMax = 64 << 20;

Result<std::set<std::string>> PathsOf(std::string_view content) {
  ASSIGN_OR_RETURN(const json::value list, ParseJson(content));
  if (!list.is_array()) return Fail(ErrorCode::kCorrupt, "it is no list");
  std::set<std::string> out;
  for (const json::value& path : list.get_array()) {
    if (path.is_string()) out.emplace(View(path.get_string()));
  }
  return out;
}

}  // namespace

std::string_view SetOf(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string SeriesOf(std::string_view path) {
  const std::string_view set = SetOf(path);
  std::string out;
  bool numbered = false;
  for (const char c : set.empty() ? path : set) {
    const bool digit = c >= '0' && c <= '9';
    numbered = numbered || digit;
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  if (!set.empty()) out += '/';
  return numbered ? out : "";
}

UnfinishedFiles::UnfinishedFiles(wire::S3Location prefix, std::string_view host)
    : prefix_(std::move(prefix)), name_(std::string(kUnfinishedPrefix) + std::string(host)) {}

Result<std::set<std::string>> UnfinishedFiles::Read(wire::S3Client& client,
                                                    const std::vector<wire::S3Object>& objects) {
  std::set<std::string> all;
  for (const wire::S3Object& object : objects) {
    const std::string_view name = std::string_view(object.key).substr(prefix_.key.size());
    if (!name.starts_with(kUnfinishedPrefix)) continue;
    ASSIGN_OR_RETURN(const std::string content,
                     client.Get({prefix_.bucket, object.key}, kContentMax));
    auto paths = PathsOf(content);
    if (!paths) return Wrap(Error(paths.error()), fmt::format("object '{}'", object.key));
    all.insert(paths->begin(), paths->end());
    if (name != name_) continue;
    written_ = content;
    paths_ = std::move(*paths);
  }
  return all;
}

std::string UnfinishedFiles::Content() const {
  if (paths_.empty()) return "";
  json::array list;
  for (const std::string& path : paths_) list.emplace_back(path);
  return json::serialize(list);
}

Status UnfinishedFiles::Write(wire::S3Client& client) {
  std::string content = Content();
  if (content == written_) return {};
  const wire::S3Location object{prefix_.bucket, prefix_.key + name_};
  RETURN_IF_ERROR(content.empty() ? client.Delete(object) : client.Put(object, content));
  written_ = std::move(content);
  return {};
}

}  // namespace sabia::channels
