// The writer behind LogWriter::Open, for those in this folder that need more than its interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/clock.h"
#include "env/posix/posix_files.h"
#include "store/log_store.h"

namespace sabia::store {

class FileLogWriter final : public LogWriter {
 public:
  // Makes the file and its directories when there are none, cuts a torn end. kUnavailable when
  // another process or thread is writing the stream.
  static Result<std::unique_ptr<FileLogWriter>> Open(const env::Path& file, env::Clock& clock,
                                                     std::uint64_t bytes_max);
  // As Open, but kAlreadyExists when the stream exists.
  static Status Create(const env::Path& file, env::Clock& clock);
  ~FileLogWriter() override;

  Status Append(WallTime time, std::string_view line) override;
  Status Flush() override;
  // Flush, then to the disk.
  Status Sync();

 private:
  FileLogWriter(env::UniqueFd fd, env::Clock& clock, std::uint64_t bytes_max)
      : fd_(std::move(fd)), clock_(clock), bytes_max_(bytes_max) {}
  Status Recover();
  Status AppendPiece(WallTime time, std::string_view piece);

  env::UniqueFd fd_;
  env::Clock& clock_;
  const std::uint64_t bytes_max_;
  std::uint64_t flushed_ = 0;  // size of the file
  std::string buffer_;         // to follow at flushed_
  bool full_ = false;
};

}  // namespace sabia::store
