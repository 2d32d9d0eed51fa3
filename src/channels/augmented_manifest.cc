#include "channels/augmented_manifest.h"

#include <algorithm>
#include <map>

#include "base/json.h"

namespace sabia::channels {
namespace {

// Finds the members of a JSON object as text, so that numbers come out as they were written.
// REQUIRES: the text is one valid JSON object.
class MemberScanner {
 public:
  explicit MemberScanner(std::string_view text) : text_(text) { at_ = text_.find('{') + 1; }

  struct Member {
    std::string_view name;   // as written, with its quotes
    std::string_view value;  // as written
  };
  bool Next(Member& member) {
    SkipTo('"', '}');
    if (at_ >= text_.size() || text_[at_] == '}') return false;
    member.name = TakeText();
    at_ = text_.find(':', at_) + 1;
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    const std::size_t begin = at_;
    SkipValue();
    member.value = text_.substr(begin, at_ - begin);
    return true;
  }

 private:
  void SkipTo(char one, char other) {
    while (at_ < text_.size() && text_[at_] != one && text_[at_] != other) ++at_;
  }

  std::string_view TakeText() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  void SkipValue() {
    const std::size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        (void)TakeText();
        if (depth == 0) return;
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}')) break;  // behind a number or a word
      if (c == '{' || c == '[') ++depth;
      ++at_;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
    while (at_ > begin && (text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t')) --at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string Joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", name);
  return out;
}

Result<std::string> TextOf(std::string_view quoted) {
  ASSIGN_OR_RETURN(const json::value value, ParseJson(quoted));
  return std::string(View(value.get_string()));
}

// Names → values as written. The last of several members of one name wins, as in most readers.
Result<std::map<std::string, std::string_view>> Members(std::string_view line) {
  std::map<std::string, std::string_view> out;
  MemberScanner scanner(line);
  MemberScanner::Member member;
  while (scanner.Next(member)) {
    ASSIGN_OR_RETURN(std::string name, TextOf(member.name));
    out[std::move(name)] = member.value;
  }
  return out;
}

}  // namespace

Result<std::vector<AttributeValue>> PickAttributes(std::string_view line,
                                                   const std::vector<std::string>& names) {
  if (const auto valid = ParseJsonObject(line); !valid) {
    return Fail(ErrorCode::kInvalidArgument, "it is no JSON object: {}", valid.error().message);
  }
  ASSIGN_OR_RETURN(const auto members, Members(line));
  std::vector<AttributeValue> out;
  for (const std::string& name : names) {
    const auto found = members.find(name);
    if (found == members.end()) {
      std::vector<std::string> present;
      for (const auto& [known, value] : members) present.push_back(known);
      return Fail(ErrorCode::kInvalidArgument, "it has no attribute '{}', only {}", name,
                  Joined(present));
    }
    const bool reference = name.ends_with(kReferenceSuffix);
    const bool text = found->second.starts_with('"');
    if (reference && !text) {
      return Fail(ErrorCode::kInvalidArgument, "attribute '{}' is no text, and must be an S3 URI",
                  name);
    }
    if (text) {
      ASSIGN_OR_RETURN(std::string value, TextOf(found->second));
      out.push_back({std::move(value), reference});
    } else {
      out.push_back({std::string(found->second), false});
    }
  }
  return out;
}

}  // namespace sabia::channels
