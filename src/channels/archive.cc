#include "channels/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>

#include "channels/beneath.h"
#include "channels/listing.h"
#include "env/posix/posix_files.h"

namespace sabia::channels {
namespace {

namespace fs = std::filesystem;

struct WriteCloser {
  void operator()(struct archive* a) const { ::archive_write_free(a); }
};
struct ReadCloser {
  void operator()(struct archive* a) const { ::archive_read_free(a); }
};
struct EntryCloser {
  void operator()(struct archive_entry* e) const { ::archive_entry_free(e); }
};
using Writer = std::unique_ptr<struct archive, WriteCloser>;
using Reader = std::unique_ptr<struct archive, ReadCloser>;
using Entry = std::unique_ptr<struct archive_entry, EntryCloser>;

std::string_view Problem(struct archive* a) {
  const char* text = ::archive_error_string(a);
  return text == nullptr ? "unknown error" : text;
}

char TypeOf(const fs::file_status& status) {
  switch (status.type()) {
    case fs::file_type::regular:
      return 'f';
    case fs::file_type::directory:
      return 'd';
    case fs::file_type::symlink:
      return 'l';
    default:
      return 0;
  }
}

Status AddTree(const env::Path& root, std::map<std::string, TreeFile>& out,
               std::vector<std::string>* left_out) {
  std::error_code ec;
  fs::recursive_directory_iterator it(root, ec);
  if (ec == std::errc::no_such_file_or_directory) return {};
  for (; !ec && it != fs::recursive_directory_iterator(); it.increment(ec)) {
    const char type = TypeOf(it->symlink_status(ec));
    if (ec == std::errc::no_such_file_or_directory) {  // removed while we looked
      ec.clear();
      continue;
    }
    if (type == 0) {
      const std::string path = it->path().lexically_relative(root).native();
      struct stat info {};
      if (left_out != nullptr && ::lstat(it->path().c_str(), &info) == 0)
        left_out->push_back(fmt::format("{} ({})", path, KindOf(info.st_mode)));
      continue;
    }
    TreeFile file{
        .path = it->path().lexically_relative(root).native(), .source = it->path(), .type = type};
    if (type == 'f') file.size = it->file_size(ec);
    auto [place, added] = out.emplace(file.path, file);
    if (!added && (type != 'd' || place->second.type != 'd')) {
      return Fail(ErrorCode::kConflict, "'{}' was written by more than one host", file.path);
    }
  }
  if (ec) return FailErrno(ec.value(), "failed to read directory '{}'", root.native());
  return {};
}

Status WriteHeader(struct archive* out, const TreeFile& file, const struct stat& info) {
  const Entry entry(::archive_entry_new());
  ::archive_entry_set_pathname_utf8(entry.get(), file.path.c_str());
  ::archive_entry_copy_pathname(entry.get(), file.path.c_str());
  // Without set-user-id and its like: who unpacks this may be root.
  ::archive_entry_set_mode(entry.get(), info.st_mode & (S_IFMT | 0777));
  ::archive_entry_set_mtime(entry.get(), info.st_mtim.tv_sec, 0);
  if (file.type == 'f') ::archive_entry_set_size(entry.get(), info.st_size);
  if (file.type == 'l') {
    std::error_code ec;
    const std::string link = fs::read_symlink(file.source, ec).native();
    if (ec) return FailErrno(ec.value(), "failed to read link '{}'", file.path);
    ::archive_entry_copy_symlink(entry.get(), link.c_str());
  }
  if (::archive_write_header(out, entry.get()) < ARCHIVE_WARN) {
    return Fail(ErrorCode::kIo, "failed to pack '{}': {}", file.path, Problem(out));
  }
  return {};
}

// Exactly `size` bytes, whatever happens to the file meanwhile: its header is already written.
Status WriteContent(struct archive* out, const TreeFile& file, int fd, std::uint64_t size,
                    const Cancelled& cancelled) {
  std::vector<char> buffer(256 << 10);
  std::uint64_t left = size;
  while (left > 0) {
    if (cancelled && cancelled()) return Fail(ErrorCode::kTimeout, "cancelled");
    const ssize_t n = ::read(fd, buffer.data(), std::min<std::uint64_t>(buffer.size(), left));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read '{}'", file.path);
    if (n == 0)
      return Fail(ErrorCode::kConflict, "'{}' became shorter while it was packed", file.path);
    if (::archive_write_data(out, buffer.data(), static_cast<std::size_t>(n)) != n) {
      return Fail(ErrorCode::kIo, "failed to pack '{}': {}", file.path, Problem(out));
    }
    left -= static_cast<std::uint64_t>(n);
  }
  return {};
}

Status PackOne(struct archive* out, const TreeFile& file, const Cancelled& cancelled) {
  struct stat info {};
  if (file.type != 'f') {
    if (::lstat(file.source.c_str(), &info) != 0) {
      return FailErrno(errno, "failed to look at '{}'", file.path);
    }
    return WriteHeader(out, file, info);
  }
  ASSIGN_OR_RETURN(const env::UniqueFd fd, env::OpenFile(file.source, O_RDONLY | O_NOFOLLOW));
  if (::fstat(fd.get(), &info) != 0) return FailErrno(errno, "failed to look at '{}'", file.path);
  RETURN_IF_ERROR(WriteHeader(out, file, info));
  return WriteContent(out, file, fd.get(), static_cast<std::uint64_t>(info.st_size), cancelled);
}

Status CheckMember(struct archive_entry* entry) {
  const char* name = ::archive_entry_pathname(entry);
  if (name == nullptr) return Fail(ErrorCode::kInvalidArgument, "a member has no readable name");
  std::string_view path = name;
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.ends_with('/')) path.remove_suffix(1);
  const bool root = path.empty() || path == ".";
  if (root &&
      (::archive_entry_filetype(entry) != AE_IFDIR || ::archive_entry_hardlink(entry) != nullptr)) {
    return Fail(ErrorCode::kInvalidArgument, "member '{}' would take the place of the folder",
                name);
  }
  if (root) return {};
  if (!IsSafeRelativePath(path)) {
    return Fail(ErrorCode::kInvalidArgument, "member '{}' points outside the archive", name);
  }
  const auto type = ::archive_entry_filetype(entry);
  const bool hard_link = ::archive_entry_hardlink(entry) != nullptr;
  if (!hard_link && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK) {
    return Fail(ErrorCode::kInvalidArgument, "member '{}' is neither a file, a folder nor a link",
                name);
  }
  if (hard_link && !IsSafeRelativePath(::archive_entry_hardlink(entry))) {
    return Fail(ErrorCode::kInvalidArgument, "member '{}' links outside the archive", name);
  }
  return {};
}

// Writes below `target` by absolute path: libarchive's SECURE flags refuse links and ".." on the
// way.
void MoveBelow(struct archive_entry* entry, const env::Path& target) {
  ::archive_entry_copy_pathname(entry, (target / ::archive_entry_pathname(entry)).c_str());
  if (const char* link = ::archive_entry_hardlink(entry)) {
    ::archive_entry_copy_hardlink(entry, (target / link).c_str());
  }
}

Status CopyMember(struct archive* in, struct archive* out, std::uint64_t& bytes_left) {
  const void* block = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  while (true) {
    const int got = ::archive_read_data_block(in, &block, &size, &offset);
    if (got == ARCHIVE_EOF) break;
    if (got < ARCHIVE_WARN) return Fail(ErrorCode::kInvalidArgument, "{}", Problem(in));
    if (size > bytes_left)
      return Fail(ErrorCode::kResourceExhausted, "the archive unpacks to too many bytes");
    bytes_left -= size;
    if (::archive_write_data_block(out, block, size, offset) < ARCHIVE_WARN) {
      return Fail(ErrorCode::kIo, "{}", Problem(out));
    }
  }
  if (::archive_write_finish_entry(out) < ARCHIVE_WARN)
    return Fail(ErrorCode::kIo, "{}", Problem(out));
  return {};
}

Status UnpackAll(struct archive* in, const env::Path& target, const UnpackLimits& limits) {
  const Writer out(::archive_write_disk_new());
  // SECURE_SYMLINKS looks at every component, also those above the target: give it a path without
  // links.
  std::error_code ec;
  const env::Path resolved = fs::canonical(target, ec);
  if (ec) return FailErrno(ec.value(), "failed to resolve '{}'", target.native());
  ::archive_write_disk_set_options(out.get(), ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME |
                                                  ARCHIVE_EXTRACT_SECURE_NODOTDOT |
                                                  ARCHIVE_EXTRACT_SECURE_SYMLINKS);
  std::uint64_t bytes_left = limits.bytes_max;
  struct archive_entry* entry = nullptr;
  for (std::uint64_t count = 0;; ++count) {
    const int got = ::archive_read_next_header(in, &entry);
    if (got == ARCHIVE_EOF) return {};
    if (got < ARCHIVE_WARN) return Fail(ErrorCode::kInvalidArgument, "{}", Problem(in));
    if (count >= limits.entries_max) {
      return Fail(ErrorCode::kResourceExhausted, "the archive has more than {} members",
                  limits.entries_max);
    }
    RETURN_IF_ERROR(CheckMember(entry));
    ::archive_entry_set_perm(entry, ::archive_entry_perm(entry) & 0777);
    MoveBelow(entry, resolved);
    if (::archive_write_header(out.get(), entry) < ARCHIVE_WARN) {
      return Fail(ErrorCode::kInvalidArgument, "{}", Problem(out.get()));
    }
    RETURN_IF_ERROR(CopyMember(in, out.get(), bytes_left));
  }
}

}  // namespace

Result<std::vector<TreeFile>> MergeTrees(const std::vector<env::Path>& roots,
                                         std::vector<std::string>* left_out) {
  std::map<std::string, TreeFile> merged;
  for (const env::Path& root : roots) RETURN_IF_ERROR(AddTree(root, merged, left_out));
  std::vector<TreeFile> out;
  out.reserve(merged.size());
  for (auto& [path, file] : merged) out.push_back(std::move(file));
  return out;
}

Status PackTar(const std::vector<TreeFile>& entries, const env::Path& target, int level,
               const Cancelled& cancelled) {
  const Writer out(::archive_write_new());
  ::archive_write_add_filter_gzip(out.get());
  ::archive_write_set_format_pax_restricted(out.get());
  const std::string options = fmt::format("gzip:compression-level={},gzip:!timestamp", level);
  ::archive_write_set_options(out.get(), options.c_str());
  if (::archive_write_open_filename(out.get(), target.c_str()) != ARCHIVE_OK) {
    return Fail(ErrorCode::kIo, "failed to create '{}': {}", target.native(), Problem(out.get()));
  }
  for (const TreeFile& file : entries) RETURN_IF_ERROR(PackOne(out.get(), file, cancelled));
  if (::archive_write_close(out.get()) != ARCHIVE_OK) {
    return Fail(ErrorCode::kIo, "failed to finish '{}': {}", target.native(), Problem(out.get()));
  }
  return {};
}

Status UnpackArchive(const env::Path& archive, const env::Path& target, UnpackLimits limits) {
  const Reader in(::archive_read_new());
  ::archive_read_support_filter_all(in.get());
  ::archive_read_support_format_tar(in.get());
  ::archive_read_support_format_zip(in.get());
  constexpr std::size_t kBlock = 128 << 10;
  if (::archive_read_open_filename(in.get(), archive.c_str(), kBlock) != ARCHIVE_OK) {
    return Fail(ErrorCode::kInvalidArgument, "not a tar.gz archive: {}", Problem(in.get()));
  }
  return UnpackAll(in.get(), target, limits);
}

}  // namespace sabia::channels
