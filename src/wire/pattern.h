// A schema's regular expression: compiled at its first use, matched against whole strings, bounded
// in work.
//
// Models write patterns for Java; the few spellings that PCRE2 lacks (\uXXXX, \p{Alnum}) are
// translated. A subject on which matching exceeds the step limit does not match: no input can hang
// the server.
//
// Threading: thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace sabia::wire {

class Pattern {
 public:
  // The text must outlive the pattern.
  explicit Pattern(std::string_view text) : text_(text) {}
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  std::string_view text() const { return text_; }  // as the model prints it
  // Whether the whole subject matches. False also for bytes that are not UTF-8.
  bool Matches(std::string_view subject) const;
  // Empty when the pattern compiles; else why not. For tests.
  std::string CompileError() const;

 private:
  void Compile() const;

  std::string_view text_;
  mutable std::once_flag once_;
  mutable void* code_ = nullptr;  // pcre2_code, kept out of the header
  mutable std::string error_;
};

// The same expression in PCRE2's spelling.
std::string TranslatePattern(std::string_view java);

}  // namespace sabia::wire
