// CHECK: always on, for our own bugs, never for input. Prints the condition and the place, then
// aborts.
#pragma once

#include <string>

namespace sabia {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line,
                              const std::string& detail);
}  // namespace sabia

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ::sabia::CheckFailed(#condition, __FILE__, __LINE__, std::string()); \
    }                                                                      \
  } while (false)

#define CHECK_MSG(condition, detail)                                  \
  do {                                                                \
    if (!(condition)) {                                               \
      ::sabia::CheckFailed(#condition, __FILE__, __LINE__, (detail)); \
    }                                                                 \
  } while (false)
