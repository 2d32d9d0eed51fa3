#include "fleet/posix/disk_instance_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "env/posix/empty_file.h"
#include "env/posix/posix_files.h"
#include "fleet/posix/agent_pipe.h"

namespace sabia::fleet {
namespace {

constexpr std::size_t kReportBytesMax = 4u << 20;
constexpr unsigned kSecret = 0600;  // a specification holds the credentials of the job's role

env::WriteOptions Volatile(unsigned mode) { return {mode, env::Durability::kVolatile}; }

std::optional<WallTime> Modified(const env::Path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FromUnixMillis(info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000);
}

std::uint64_t SizeOf(const env::Path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::string EndOfFile(env::Files& files, const env::Path& path) {
  constexpr std::size_t kLastWordsMax = 400;
  auto text = files.Read(path);
  if (!text) return "";
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return text->size() <= kLastWordsMax ? *text : text->substr(text->size() - kLastWordsMax);
}

// The document, or nothing when there is none or it is torn: after power loss that is possible.
std::optional<json::object> ReadObject(env::Files& files, const env::Path& path) {
  const auto text = files.Read(path, kReportBytesMax);
  // Empty: of a directory that serves again.
  if (!text || text->size() <= env::kEmptyFileMax) return std::nullopt;
  auto object = ParseJsonObject(*text);
  if (object) return std::move(*object);
  LogWarn("ignored '{}': {}", path.native(), object.error().message);
  return std::nullopt;
}

template <typename T>
std::optional<T> ValueOf(const std::optional<json::object>& object, const env::Path& path) {
  if (!object) return std::nullopt;
  auto value = T::FromJson(*object);
  if (value) return std::move(*value);
  LogWarn("ignored '{}': {}", path.native(), value.error().message);
  return std::nullopt;
}

// Directories serve again, and after power loss a removed file may be back: a report of another
// instance is none.
std::optional<model::Report> ReadReport(env::Files& files, const std::string& id,
                                        const env::Path& path) {
  const auto object = ReadObject(files, path);
  if (object && FindString(*object, "instance").value_or(id) != id) return std::nullopt;
  return ValueOf<model::Report>(object, path);
}

}  // namespace

Status DiskInstanceFiles::Prepare(const std::string& id, const Preparation& preparation) {
  const env::Path directory = Directory(id);
  if (!spares_.Give(directory)) RETURN_IF_ERROR(files_.MakeDirectories(directory));
  for (const auto& [name, content] : preparation.listings) {
    RETURN_IF_ERROR(files_.WriteAtomically(directory / name, content, Volatile(kSecret)));
  }
  // No agent reads it yet.
  const env::Path spec = directory / "spec.json";
  const std::string text = json::serialize(preparation.spec.ToJson());
  ASSIGN_OR_RETURN(const bool written, env::FillEmptyFile(spec, text, env::Durability::kVolatile));
  return written ? Status() : files_.WriteAtomically(spec, text, Volatile(kSecret));
}

Status DiskInstanceFiles::Give(const std::string& id, const model::Orders& orders) {
  const env::Path directory = Directory(id);
  model::Orders written = orders;
  for (std::string& peer : written.merge_from) peer = Directory(peer).native();
  RETURN_IF_ERROR(files_.MakeDirectories(directory));
  RETURN_IF_ERROR(files_.WriteAtomically(directory / "orders.json",
                                         json::serialize(written.ToJson()), Volatile(0644)));
  (void)SendToAgent(directory, "");  // losing it costs latency only
  return {};
}

Result<Observation> DiskInstanceFiles::Observe(const std::string& id, bool alive) {
  const env::Path directory = Directory(id);
  Observation seen;
  seen.locked = alive || env::IsLocked(directory / "lock");
  const env::Path report = directory / "report.json";
  seen.report = ReadReport(files_, id, report);
  const env::Path orders = directory / "orders.json";
  seen.orders = ValueOf<model::Orders>(ReadObject(files_, orders), orders);
  if (seen.orders) {
    for (std::string& peer : seen.orders->merge_from) peer = env::Path(peer).filename().native();
  }
  if (!seen.report && !seen.locked) seen.last_words = EndOfFile(files_, directory / "agent.err");
  const env::Path metrics = directory / "metrics.log";
  seen.metrics_bytes = SizeOf(metrics);
  for (const env::Path& path : {report, metrics}) {
    if (const auto modified = Modified(path))
      seen.last_seen = std::max(seen.last_seen.value_or(*modified), *modified);
  }
  return seen;
}

Result<std::string> DiskInstanceFiles::ReadMetrics(const std::string& id, std::uint64_t from,
                                                   std::size_t limit) {
  const env::Path path = Directory(id) / "metrics.log";
  auto fd = env::OpenFile(path, O_RDONLY | O_NOFOLLOW);
  if (!fd) return Wrap(fd.error(), "failed to read metrics of '" + id + "': ");
  std::string bytes(limit, '\0');
  ssize_t n = 0;
  do {
    n = ::pread(fd->get(), bytes.data(), bytes.size(), static_cast<off_t>(from));
  } while (n < 0 && errno == EINTR);
  if (n < 0) return FailErrno(errno, "failed to read '{}'", path.native());
  bytes.resize(static_cast<std::size_t>(n));
  return bytes;
}

bool DiskInstanceFiles::Keep(const std::string& id) {
  const env::Path directory = Directory(id);
  // What an agent killed in the middle leaves may still be written to, by what dies with it.
  const auto report = ReadReport(files_, id, directory / "report.json");
  return report && report->phase == model::AgentPhase::kDone && spares_.Keep(directory);
}

Status DiskInstanceFiles::Remove(const std::string& id) { return files_.RemoveTree(Directory(id)); }

Result<std::vector<std::string>> DiskInstanceFiles::List() {
  auto names = files_.List(paths_.instances());
  if (!names && names.error().code == ErrorCode::kNotFound) return std::vector<std::string>{};
  return names;
}

}  // namespace sabia::fleet
