// Lines on the standard output of a training program, as the sagemaker-xgboost images write them.
//
// Each line leaves in one write(2), so that lines of the library's threads and ours do not mix. A
// reader that went away is ignored: training must not die of it. Thread-safe. Times are UTC.
#pragma once

#include <fmt/format.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "env/clock.h"

namespace sabia::algorithms {

class JobLog {
 public:
  JobLog(env::Clock& clock, int descriptor) : clock_(clock), descriptor_(descriptor) {}

  // "[2024-01-02:03:04:05:INFO] text"
  template <typename... Args>
  void Info(fmt::format_string<Args...> format, Args&&... args) {
    Stamped("INFO", fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Warning(fmt::format_string<Args...> format, Args&&... args) {
    Stamped("WARNING", fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Error(fmt::format_string<Args...> format, Args&&... args) {
    Stamped("ERROR", fmt::format(format, std::forward<Args>(args)...));
  }
  // The line as it is.
  void Plain(std::string_view line);

 private:
  void Stamped(std::string_view level, std::string_view text);

  env::Clock& clock_;
  int descriptor_;
  std::mutex mutex_;
};

}  // namespace sabia::algorithms
