#include "channels/spool.h"

#include <fcntl.h>

namespace sabia::channels {
namespace {

constexpr std::size_t kMemoryMax = 1 << 20;

}  // namespace

Status Spool::Write(std::string_view data) {
  size_ += data.size();
  if (!file_ && memory_.size() + data.size() <= kMemoryMax) {
    memory_ += data;
    return {};
  }
  if (!file_) {
    ASSIGN_OR_RETURN(file_, env::OpenFile(directory_, O_RDWR | O_TMPFILE, 0600));
    RETURN_IF_ERROR(env::WriteAll(file_.get(), memory_));
    memory_ = std::string();
  }
  return env::WriteAll(file_.get(), data);
}

}  // namespace sabia::channels
