#include "algorithms/data_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "env/posix/posix_files.h"

namespace sabia::algorithms {
namespace {

constexpr int kDepthMax = 3;

Status Collect(const std::filesystem::path& folder, const std::string& prefix, int depth,
               std::vector<DataFile>* out) {
  if (depth > kDepthMax) {
    return Fail(ErrorCode::kInvalidArgument, "Folder depth exceed the limit: {}.", kDepthMax);
  }
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || name.starts_with('_')) continue;
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      RETURN_IF_ERROR(Collect(at->path(), prefix + name + "/", depth + 1, out));
    } else if (at->is_regular_file(ignored)) {
      out->push_back({at->path(), prefix + name, static_cast<std::size_t>(at->file_size(ignored))});
    }
  }
  if (error && error.value() != ENOENT) {
    return FailErrno(error.value(), "failed to list '{}'", folder.string());
  }
  return {};
}

Result<std::string> ReadToEnd(int fd, const std::filesystem::path& path) {
  std::string all;
  std::string block(1 << 16, '\0');
  for (;;) {
    const ssize_t n = ::read(fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read '{}'", path.string());
    if (n == 0) return all;
    all.append(block.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace

Result<std::vector<DataFile>> ListDataFiles(const std::filesystem::path& channel) {
  std::vector<DataFile> files;
  RETURN_IF_ERROR(Collect(channel, "", 1, &files));
  std::sort(files.begin(), files.end(),
            [](const DataFile& a, const DataFile& b) { return a.name < b.name; });
  return files;
}

std::vector<std::string> SuspectedDuplicates(const std::vector<DataFile>& train,
                                             const std::vector<DataFile>& validation) {
  std::map<std::string, std::size_t> sizes;
  for (const DataFile& file : train) sizes[file.name] = file.size;
  std::vector<std::string> names;
  for (const DataFile& file : validation) {
    const auto at = sizes.find(file.name);
    if (at != sizes.end() && at->second == file.size) names.push_back(file.name);
  }
  return names;
}

Result<FileBytes> FileBytes::Open(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const env::UniqueFd fd, env::OpenFile(path, O_RDONLY));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0)
    return FailErrno(errno, "failed to read '{}'", path.string());
  FileBytes bytes;
  if (!S_ISREG(status.st_mode)) {
    ASSIGN_OR_RETURN(bytes.read_, ReadToEnd(fd.get(), path));
    return bytes;
  }
  if (status.st_size == 0) return bytes;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (map == MAP_FAILED) return FailErrno(errno, "failed to map '{}'", path.string());
  ::madvise(map, size, MADV_SEQUENTIAL);
  bytes.map_ = map;
  bytes.size_ = size;
  return bytes;
}

FileBytes::~FileBytes() {
  if (map_) ::munmap(map_, size_);
}

}  // namespace sabia::algorithms
