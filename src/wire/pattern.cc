#include "wire/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"

namespace sabia::wire {
namespace {

constexpr std::uint32_t kStepsMax = 2'000'000;  // matching steps: about 20 ms of the interpreter
constexpr std::size_t kJitStackMin = 32 << 10;
constexpr std::size_t kJitStackMax = 4 << 20;

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kJavaClasses{{
    {"Alnum", "a-zA-Z0-9"},
    {"Alpha", "a-zA-Z"},
    {"Digit", "0-9"},
    {"Lower", "a-z"},
    {"Upper", "A-Z"},
    {"Print", "\\x20-\\x7E"},
    {"Graph", "\\x21-\\x7E"},
    {"ASCII", "\\x00-\\x7F"},
}};

std::optional<std::uint32_t> HexEscape(std::string_view text) {  // "\uXXXX..."
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(2, 4)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

// One \uXXXX, or a surrogate pair of them, which Java reads as one character. Returns the length
// read.
std::size_t TranslateUnicode(std::string_view text, std::string& out) {
  const auto high = HexEscape(text);
  if (!high) return 0;
  const auto low = HexEscape(text.substr(6));
  if (*high >= 0xD800 && *high <= 0xDBFF && low && *low >= 0xDC00 && *low <= 0xDFFF) {
    out += fmt::format("\\x{{{:X}}}", 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
    return 12;
  }
  out += fmt::format("\\x{{{:X}}}", *high);
  return 6;
}

std::size_t TranslateClass(std::string_view text, bool in_brackets, std::string& out) {
  if (!text.starts_with("\\p{")) return 0;
  for (const auto& [name, range] : kJavaClasses) {
    if (!text.substr(3).starts_with(name) || text.substr(3 + name.size(), 1) != "}") continue;
    out += in_brackets ? std::string(range) : fmt::format("[{}]", range);
    return name.size() + 4;
  }
  return 0;
}

// "$" with a quantifier says the same as "$".
std::size_t SkipQuantifier(std::string_view text) {
  if (!text.starts_with('{')) return 0;
  const auto end = text.find('}');
  return end == std::string_view::npos ? 0 : end + 1;
}

bool IsClassEscape(char c) { return std::string_view("wWdDsS").find(c) != std::string_view::npos; }

// Of "\\p{L}", 0 of anything else.
std::size_t PropertyLength(std::string_view text) {
  if (!text.starts_with("\\p{") && !text.starts_with("\\P{")) return 0;
  const auto end = text.find('}');
  return end == std::string_view::npos ? 0 : end + 1;
}

struct MatchDataFree {
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
};
struct ContextFree {
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
};
struct StackFree {
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};

}  // namespace

std::string TranslatePattern(std::string_view java) {
  std::string out;
  bool in_brackets = false;
  for (std::size_t i = 0; i < java.size();) {
    const std::string_view rest = java.substr(i);
    if (const auto n = TranslateUnicode(rest, out)) {
      i += n;
    } else if (const auto m = TranslateClass(rest, in_brackets, out)) {
      i += m;
    } else if (rest[0] == '\\' && rest.size() > 1) {
      const std::size_t property = PropertyLength(rest);
      const std::size_t length = property > 0 ? property : 2;
      out += rest.substr(0, length);
      i += length;
      const bool is_class = property > 0 || IsClassEscape(rest[1]);
      if (in_brackets && is_class && java.substr(i).starts_with('-')) {
        out += "\\-";  // "[\w-_]": no range can start at a class
        ++i;
      }
    } else if (in_brackets &&
               rest[0] ==
                   '[') {  // a literal here, for none of the models uses Java's nested classes
      out += "\\[";
      ++i;
    } else {
      if (rest[0] == '[') in_brackets = true;
      if (rest[0] == ']') in_brackets = false;
      out += rest[0];
      ++i;
      if (rest[0] == '$' && !in_brackets) i += SkipQuantifier(java.substr(i));
    }
  }
  return out;
}

Pattern::~Pattern() { pcre2_code_free(static_cast<pcre2_code*>(code_)); }

void Pattern::Compile() const {
  std::call_once(once_, [this] {
    const std::string pattern = TranslatePattern(text_);
    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* compiled =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                      PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY, &code,
                      &offset, nullptr);
    if (compiled == nullptr) {
      std::array<PCRE2_UCHAR, 256> text{};
      pcre2_get_error_message(code, text.data(), text.size());
      error_ = fmt::format("{} at byte {} of '{}'", reinterpret_cast<const char*>(text.data()),
                           offset, pattern);
      return;
    }
    pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // where there is no JIT, the interpreter does
    code_ = compiled;
  });
}

std::string Pattern::CompileError() const {
  Compile();
  return error_;
}

bool Pattern::Matches(std::string_view subject) const {
  Compile();
  if (code_ == nullptr) {
    LogError("schema pattern does not compile: {}", error_);
    return false;
  }
  const auto* code = static_cast<const pcre2_code*>(code_);
  const std::unique_ptr<pcre2_match_data, MatchDataFree> data(
      pcre2_match_data_create_from_pattern(code, nullptr));
  const std::unique_ptr<pcre2_match_context, ContextFree> context(
      pcre2_match_context_create(nullptr));
  if (!data || !context) return false;
  pcre2_set_match_limit(context.get(), kStepsMax);
  const auto run = [&] {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0, 0,
                       data.get(), context.get());
  };
  int outcome = run();
  if (outcome == PCRE2_ERROR_JIT_STACKLIMIT) {  // a long subject: once more with a larger stack
    const std::unique_ptr<pcre2_jit_stack, StackFree> stack(
        pcre2_jit_stack_create(kJitStackMin, kJitStackMax, nullptr));
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    outcome = run();
    pcre2_jit_stack_assign(context.get(), nullptr, nullptr);
  }
  return outcome >= 0;
}

}  // namespace sabia::wire
