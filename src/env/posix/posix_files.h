// Files on the machine's own file system, and the descriptor that closes itself.
#pragma once

#include <utility>

#include "env/files.h"

namespace sabia::env {

// Owns a file descriptor; -1 when empty.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1);

 private:
  int fd_ = -1;
};

// Opens with O_CLOEXEC added to flags.
Result<UniqueFd> OpenFile(const Path& path, int flags, unsigned mode = 0644);
Status WriteAll(int fd, std::string_view data);
Status SyncDirectory(const Path& path);
// Takes the exclusive flock of the file. Others look whether it is held by taking a shared one for
// an instant: such a refusal is waited out, a fifth of a second at most. kConflict: somebody holds
// it.
Status LockExclusively(int fd);
// Whether somebody holds the exclusive flock of that file. False when there is none; true when it
// cannot be opened for another reason, for not knowing is no reason to take it for free.
bool IsLocked(const Path& file);

class PosixFiles final : public Files {
 public:
  Result<std::string> Read(const Path& path, std::size_t limit) override;
  Status WriteAtomically(const Path& path, std::string_view content, WriteOptions options) override;
  Status MakeDirectories(const Path& path) override;
  Status RemoveTree(const Path& path) override;
  Result<bool> Exists(const Path& path) override;
  Result<std::vector<std::string>> List(const Path& path) override;
};

}  // namespace sabia::env
