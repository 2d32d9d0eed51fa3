#define PCRE2_CODE_UNIT_WIDTH 8
#include "agent/metric_matcher.h"

#include <pcre2.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace sabia::agent {
namespace {

constexpr std::size_t kLineMax = 64 << 10;
constexpr std::string_view kEscapedTab = "#011";
constexpr std::uint32_t kMatchLimit = 100'000;
constexpr std::uint32_t kHeapLimitKiB = 4 << 10;

struct CodeFree {
  void operator()(pcre2_code* code) const { ::pcre2_code_free(code); }
};
struct DataFree {
  void operator()(pcre2_match_data* data) const { ::pcre2_match_data_free(data); }
};
struct ContextFree {
  void operator()(pcre2_match_context* context) const { ::pcre2_match_context_free(context); }
};

// A number as Python's float() reads it, as far as metrics go: blanks around, a sign, digits, an
// exponent, inf, nan.
std::optional<double> ParseNumber(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;  // CloudWatch takes neither nan nor inf
  return value;
}

std::string WithEscapedTabs(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c == '\t') {
      out += kEscapedTab;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

struct MetricMatcher::Compiled {
  std::unique_ptr<pcre2_code, CodeFree> code;
  std::unique_ptr<pcre2_match_data, DataFree> data;
  std::unique_ptr<pcre2_match_context, ContextFree> context;

  std::optional<double> LastIn(std::string_view line) const;
};

std::optional<double> MetricMatcher::Compiled::LastIn(std::string_view line) const {
  std::optional<double> last;
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(line.data());
  for (std::size_t at = 0; at <= line.size();) {
    const int groups = ::pcre2_match(code.get(), subject, line.size(), at, PCRE2_NO_UTF_CHECK,
                                     data.get(), context.get());
    if (groups < 0) break;
    const PCRE2_SIZE* range = ::pcre2_get_ovector_pointer(data.get());
    if (groups > 1 && range[2] != PCRE2_UNSET) {
      // "(\S+)" runs over an escaped TAB into the next metric of the line; the value ends before
      // it.
      const std::string_view captured = line.substr(range[2], range[3] - range[2]);
      const auto value = ParseNumber(captured.substr(0, captured.find(kEscapedTab)));
      if (value) last = value;
    }
    at = range[1] > at ? range[1] : at + 1;
  }
  return last;
}

MetricMatcher::MetricMatcher() = default;
MetricMatcher::~MetricMatcher() = default;

Result<std::unique_ptr<MetricMatcher>> MetricMatcher::Create(
    const std::vector<model::MetricDefinition>& definitions) {
  std::unique_ptr<MetricMatcher> out(new MetricMatcher());
  for (const model::MetricDefinition& definition : definitions) {
    int error = 0;
    PCRE2_SIZE at = 0;
    auto one = std::make_unique<Compiled>();
    one->code.reset(::pcre2_compile(reinterpret_cast<PCRE2_SPTR>(definition.regex.data()),
                                    definition.regex.size(), 0, &error, &at, nullptr));
    if (!one->code) {
      std::array<PCRE2_UCHAR, 128> text{};
      ::pcre2_get_error_message(error, text.data(), text.size());
      return Fail(ErrorCode::kInvalidArgument, "regex of metric '{}' is bad at character {}: {}",
                  definition.name, at, reinterpret_cast<const char*>(text.data()));
    }
    ::pcre2_jit_compile(one->code.get(), PCRE2_JIT_COMPLETE);  // without JIT it is only slower
    one->data.reset(::pcre2_match_data_create_from_pattern(one->code.get(), nullptr));
    one->context.reset(::pcre2_match_context_create(nullptr));
    ::pcre2_set_match_limit(one->context.get(), kMatchLimit);
    ::pcre2_set_heap_limit(one->context.get(), kHeapLimitKiB);
    out->compiled_.push_back(std::move(one));
  }
  return out;
}

std::vector<MetricValue> MetricMatcher::Match(std::string_view line) const {
  std::vector<MetricValue> out;
  if (compiled_.empty()) return out;
  line = line.substr(0, kLineMax);
  const bool has_tab = line.find('\t') != line.npos;
  const std::string escaped = has_tab ? WithEscapedTabs(line) : std::string();
  for (std::size_t i = 0; i < compiled_.size(); ++i) {
    std::optional<double> value = compiled_[i]->LastIn(line);
    if (!value && has_tab) value = compiled_[i]->LastIn(escaped);
    if (value) out.push_back({i, *value});
  }
  return out;
}

}  // namespace sabia::agent
