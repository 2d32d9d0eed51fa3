// The daemon's own log: one line per event on stderr, levels debug, info, warn, error (spdlog
// underneath).
//
// LogInfo("placed job '{}' on {} instances", name, n). Never pass a secret. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace sabia {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// Set once, early in main. Lines below the level are not formatted.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);
void LogLine(LogLevel level, std::string_view line);

template <typename... Args>
void LogAt(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(level)) LogLine(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogWarn(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kWarn, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  LogAt(LogLevel::kError, format, std::forward<Args>(args)...);
}

}  // namespace sabia
