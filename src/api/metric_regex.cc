#include "api/metric_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <memory>

namespace sabia::api {

Result<int> CountRegexGroups(std::string_view regex) {
  int error = 0;
  PCRE2_SIZE at = 0;
  const std::unique_ptr<pcre2_code, decltype(&::pcre2_code_free)> code(
      ::pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(), 0, &error, &at,
                      nullptr),
      &::pcre2_code_free);
  if (!code) {
    std::array<PCRE2_UCHAR, 128> text{};
    ::pcre2_get_error_message(error, text.data(), text.size());
    return Fail(ErrorCode::kInvalidArgument, "{} at character {}",
                reinterpret_cast<const char*>(text.data()), at);
  }
  std::uint32_t groups = 0;
  ::pcre2_pattern_info(code.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  return static_cast<int>(groups);
}

}  // namespace sabia::api
