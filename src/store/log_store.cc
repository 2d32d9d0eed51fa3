#include "store/log_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/encoding.h"
#include "env/posix/posix_files.h"
#include "store/log_reader.h"
#include "store/log_writer.h"

namespace sabia::store {
namespace {

constexpr std::string_view kFileSuffix = ".log";
constexpr std::string_view kDirectorySuffix = ".d";

// Entries of other make are not ours: nothing.
std::optional<std::string> Decode(std::string_view entry, std::string_view suffix) {
  if (!entry.ends_with(suffix)) return std::nullopt;
  entry.remove_suffix(suffix.size());
  Result<std::string> name = UriDecode(entry);
  return name ? std::optional(std::move(*name)) : std::nullopt;
}

Result<std::vector<std::string>> ListOrNone(const env::Path& directory) {
  auto entries = env::PosixFiles().List(directory);
  if (!entries && entries.error().code == ErrorCode::kNotFound) return std::vector<std::string>();
  return entries;
}

Result<bool> Exists(const env::Path& path) { return env::PosixFiles().Exists(path); }

// Opened by the name of its user: the message of a missing one says which of the two is missing.
Result<env::UniqueFd> OpenStream(const env::Path& file, std::string_view group,
                                 std::string_view stream, const env::Path& group_directory) {
  Result<env::UniqueFd> fd = env::OpenFile(file, O_RDONLY);
  if (fd || fd.error().code != ErrorCode::kNotFound) return fd;
  ASSIGN_OR_RETURN(const bool has_group, Exists(group_directory));
  if (!has_group) return Fail(ErrorCode::kNotFound, "log group '{}' does not exist", group);
  return Fail(ErrorCode::kNotFound, "log stream '{}' does not exist", stream);
}

WallTime FromStatx(const statx_timestamp& time) {
  return FromUnixMillis(time.tv_sec * 1000 + time.tv_nsec / 1'000'000);
}

// The birth of a directory; on file systems that keep none, its last change.
std::optional<WallTime> MadeAt(const env::Path& directory) {
  struct statx info {};
  if (::statx(AT_FDCWD, directory.c_str(), 0, STATX_BTIME | STATX_MTIME, &info) != 0)
    return std::nullopt;
  return FromStatx((info.stx_mask & STATX_BTIME) != 0 ? info.stx_btime : info.stx_mtime);
}

std::uint64_t BytesBelow(const env::Path& directory) {
  std::uint64_t bytes = 0;
  std::error_code ec;
  std::filesystem::recursive_directory_iterator at(directory, ec);
  for (; !ec && at != std::filesystem::recursive_directory_iterator(); at.increment(ec)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const std::uint64_t size = at->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

Status CheckGroup(std::string_view group) {
  if (Paths::FitsLogGroup(group)) return {};
  return Fail(ErrorCode::kInvalidArgument, "log group name '{}' is empty or too long", group);
}

Status CheckStream(std::string_view stream) {
  if (Paths::FitsLogStream(stream)) return {};
  return Fail(ErrorCode::kInvalidArgument, "log stream name '{}' is empty or too long", stream);
}

}  // namespace

LogStore::LogStore(Paths paths, env::Clock& clock) : paths_(std::move(paths)), clock_(clock) {}

Result<env::Path> LogStore::StreamFile(std::string_view group, std::string_view stream) const {
  RETURN_IF_ERROR(CheckGroup(group));
  RETURN_IF_ERROR(CheckStream(stream));
  return paths_.log_stream(group, stream);
}

Status LogStore::CreateGroup(std::string_view group) {
  RETURN_IF_ERROR(CheckGroup(group));
  RETURN_IF_ERROR(env::PosixFiles().MakeDirectories(paths_.logs()));
  if (::mkdir(paths_.log_group(group).c_str(), 0750) != 0) {
    if (errno != EEXIST) return FailErrno(errno, "failed to create log group '{}'", group);
    return Fail(ErrorCode::kAlreadyExists, "log group '{}' exists already", group);
  }
  return env::SyncDirectory(paths_.logs());
}

Status LogStore::CreateStream(std::string_view group, std::string_view stream) {
  ASSIGN_OR_RETURN(const env::Path file, StreamFile(group, stream));
  ASSIGN_OR_RETURN(const bool has_group, Exists(paths_.log_group(group)));
  if (!has_group) return Fail(ErrorCode::kNotFound, "log group '{}' does not exist", group);
  Status created = FileLogWriter::Create(file, clock_);
  if (created || created.error().code != ErrorCode::kAlreadyExists) return created;
  return Fail(ErrorCode::kAlreadyExists, "log stream '{}' exists already", stream);
}

Status LogStore::Append(std::string_view group, std::string_view stream,
                        const std::vector<LogEvent>& events) {
  ASSIGN_OR_RETURN(const env::Path file, StreamFile(group, stream));
  RETURN_IF_ERROR(OpenStream(file, group, stream, paths_.log_group(group)));
  const std::size_t stripe = std::hash<std::string>()(file.native()) % appending_.size();
  const std::lock_guard lock(appending_[stripe]);
  ASSIGN_OR_RETURN(const auto writer, FileLogWriter::Open(file, clock_, kStreamBytesMax));
  for (const LogEvent& event : events) RETURN_IF_ERROR(writer->Append(event.time, event.message));
  return writer->Sync();
}

Result<std::vector<std::string>> LogStore::Groups(std::string_view prefix) {
  ASSIGN_OR_RETURN(const std::vector<std::string> entries, ListOrNone(paths_.logs()));
  std::vector<std::string> out;
  for (const std::string& entry : entries) {
    const std::optional<std::string> name = Decode(entry, "");
    if (name && name->starts_with(prefix)) out.push_back(*name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<LogGroupInfo> LogStore::Group(std::string_view group) {
  constexpr Seconds kSizeKeptFor{60};
  RETURN_IF_ERROR(CheckGroup(group));
  const env::Path directory = paths_.log_group(group);
  LogGroupInfo info{std::string(group), {}, 0};
  const std::optional<WallTime> made = MadeAt(directory);
  if (!made) return Fail(ErrorCode::kNotFound, "log group '{}' does not exist", group);
  info.created = *made;
  const std::lock_guard lock(sizing_);
  const auto known = sizes_.find(group);
  if (known != sizes_.end() && clock_.Mono() - known->second.known_since < kSizeKeptFor) {
    info.stored_bytes = known->second.bytes;
    return info;
  }
  info.stored_bytes = BytesBelow(directory);
  sizes_.insert_or_assign(info.name, Size{clock_.Mono(), info.stored_bytes});
  return info;
}

Result<std::vector<LogStreamInfo>> LogStore::Streams(const StreamQuery& query) {
  RETURN_IF_ERROR(CheckGroup(query.group));
  ASSIGN_OR_RETURN(const bool has_group, Exists(paths_.log_group(query.group)));
  if (!has_group) return Fail(ErrorCode::kNotFound, "log group '{}' does not exist", query.group);

  std::vector<std::string> heads;  // directories to look into
  std::vector<std::string> names;
  const auto want = [&](std::string name) {
    if (name.starts_with(query.prefix) && (query.after.empty() || name > query.after)) {
      names.push_back(std::move(name));
    }
  };
  const std::size_t slash = query.prefix.find('/');
  if (slash != std::string::npos) {
    heads.push_back(query.prefix.substr(0, slash));
  } else {
    ASSIGN_OR_RETURN(const auto entries, ListOrNone(paths_.log_group(query.group)));
    for (const std::string& entry : entries) {
      if (auto name = Decode(entry, kFileSuffix)) want(std::move(*name));
      auto head = Decode(entry, kDirectorySuffix);
      if (head && head->starts_with(query.prefix)) heads.push_back(std::move(*head));
    }
  }
  for (const std::string& head : heads) {
    ASSIGN_OR_RETURN(const auto entries, ListOrNone(paths_.log_streams_of(query.group, head)));
    for (const std::string& entry : entries) {
      if (auto rest = Decode(entry, kFileSuffix)) want(head + "/" + *rest);
    }
  }
  std::sort(names.begin(), names.end());
  std::vector<LogStreamInfo> out;
  for (const std::string& name : names) {
    if (out.size() >= query.limit) break;
    Result<LogStreamInfo> info = Stream(query.group, name);
    if (info) {
      out.push_back(std::move(*info));
    } else if (info.error().code != ErrorCode::kNotFound) {  // not one deleted meanwhile
      return tl::make_unexpected(info.error());
    }
  }
  return out;
}

Result<LogStreamInfo> LogStore::Stream(std::string_view group, std::string_view stream) {
  ASSIGN_OR_RETURN(const env::Path file, StreamFile(group, stream));
  ASSIGN_OR_RETURN(const env::UniqueFd fd,
                   OpenStream(file, group, stream, paths_.log_group(group)));
  ASSIGN_OR_RETURN(LogStreamInfo info, ReadLogInfo(fd.get()));
  info.name = stream;
  return info;
}

Result<LogStore::ReadPage> LogStore::Read(const ReadQuery& query) {
  ASSIGN_OR_RETURN(const env::Path file, StreamFile(query.group, query.stream));
  ASSIGN_OR_RETURN(const env::UniqueFd fd,
                   OpenStream(file, query.group, query.stream, paths_.log_group(query.group)));
  return query.backward ? ReadLogBackward(fd.get(), query) : ReadLogForward(fd.get(), query);
}

Status LogStore::DeleteGroup(std::string_view group) {
  RETURN_IF_ERROR(CheckGroup(group));
  ASSIGN_OR_RETURN(const bool has_group, Exists(paths_.log_group(group)));
  if (!has_group) return Fail(ErrorCode::kNotFound, "log group '{}' does not exist", group);
  {
    const std::lock_guard lock(sizing_);
    sizes_.erase(std::string(group));
  }
  return env::PosixFiles().RemoveTree(paths_.log_group(group));
}

Status LogStore::DeleteStream(std::string_view group, std::string_view stream) {
  ASSIGN_OR_RETURN(const env::Path file, StreamFile(group, stream));
  RETURN_IF_ERROR(OpenStream(file, group, stream, paths_.log_group(group)));
  return env::PosixFiles().RemoveTree(file);
}

}  // namespace sabia::store
