// A log stream as a plain text file, one line per event, for tests that read what a program
// printed.
#pragma once

#include <fcntl.h>

#include <memory>
#include <string>

#include "env/posix/posix_files.h"
#include "store/log_store.h"

namespace sabia::agent {

class PlainLog final : public store::LogWriter {
 public:
  static Result<std::unique_ptr<store::LogWriter>> Open(const env::Path& file) {
    ASSIGN_OR_RETURN(env::UniqueFd fd, env::OpenFile(file, O_WRONLY | O_CREAT | O_APPEND, 0600));
    return std::unique_ptr<store::LogWriter>(new PlainLog(std::move(fd)));
  }
  Status Append(WallTime, std::string_view line) override {
    buffer_.append(line).push_back('\n');
    if (buffer_.size() > kBuffer) return Flush();
    return {};
  }
  Status Flush() override {
    const Status written = env::WriteAll(fd_.get(), buffer_);
    buffer_.clear();
    return written;
  }

 private:
  static constexpr std::size_t kBuffer = 64 << 10;
  explicit PlainLog(env::UniqueFd fd) : fd_(std::move(fd)) {}
  env::UniqueFd fd_;
  std::string buffer_;
};

}  // namespace sabia::agent
