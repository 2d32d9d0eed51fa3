#include "algorithms/job_log.h"

#include <unistd.h>

#include <cerrno>
#include <string>

namespace sabia::algorithms {

void JobLog::Plain(std::string_view line) {
  std::string text(line);
  text += '\n';
  const std::lock_guard lock(mutex_);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

void JobLog::Stamped(std::string_view level, std::string_view text) {
  std::string time = FormatIso8601Seconds(clock_.Wall());  // 2024-01-02T03:04:05Z
  time[10] = ':';
  time.resize(19);
  Plain(fmt::format("[{}:{}] {}", time, level, text));
}

}  // namespace sabia::algorithms
