#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sabia {

void CheckFailed(const char* condition, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s %s\n", file, line, condition, detail.c_str());
  std::abort();
}

}  // namespace sabia
