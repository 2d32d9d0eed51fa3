#include "base/ini.h"

#include "base/encoding.h"

namespace sabia {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view WithoutComment(std::string_view line) {
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const bool blank = line[i] == ' ' || line[i] == '\t';
    if (blank && (line[i + 1] == '#' || line[i + 1] == ';')) return line.substr(0, i);
  }
  return line;
}

std::string SectionName(std::string_view text) {
  std::string name;
  for (const char c : Trim(text)) {
    const bool blank = kBlanks.find(c) != kBlanks.npos;
    if (!blank) {
      name += c;
    } else if (!name.ends_with(' ')) {
      name += ' ';
    }
  }
  return name;
}

class Reader {
 public:
  Status Take(std::string_view line) {
    const bool indented = line.starts_with(' ') || line.starts_with('\t');
    std::string_view text = Trim(line);
    if (text.empty() || text.front() == '#' || text.front() == ';') return {};
    if (text.front() == '[') return Open(text);
    text = Trim(WithoutComment(text));
    const std::size_t equals = text.find('=');
    if (equals == text.npos || Trim(text.substr(0, equals)).empty()) {
      return Fail(ErrorCode::kInvalidArgument, "neither '[section]' nor 'key = value'");
    }
    if (section_ == nullptr) {
      return Fail(ErrorCode::kInvalidArgument, "a setting stands before the first '[section]'");
    }
    Set(indented, ToLower(Trim(text.substr(0, equals))), Trim(text.substr(equals + 1)));
    return {};
  }

  IniDocument document;

 private:
  Status Open(std::string_view text) {
    const std::size_t end = text.find(']');
    const std::string name = SectionName(text.substr(1, end == text.npos ? end : end - 1));
    if (end == text.npos || name.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "a section is written '[name]'");
    }
    section_ = &document[name];
    parent_.clear();
    return {};
  }

  void Set(bool indented, const std::string& key, std::string_view value) {
    if (indented && !parent_.empty()) {
      (*section_)[parent_ + "." + key] = value;
      return;
    }
    parent_ = value.empty() ? key : "";
    (*section_)[key] = value;
  }

  IniSection* section_ = nullptr;
  std::string parent_;  // the key whose settings are indented below it
};

}  // namespace

Result<IniDocument> ParseIni(std::string_view text) {
  Reader reader;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const Status taken = reader.Take(text.substr(0, end));
    if (!taken) return Wrap(Error(taken.error()), fmt::format("line {}", number));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return std::move(reader.document);
}

std::string IniValue(const IniDocument& document, std::string_view section, std::string_view key) {
  const auto found = document.find(section);
  if (found == document.end()) return {};
  const auto setting = found->second.find(key);
  return setting == found->second.end() ? std::string() : setting->second;
}

}  // namespace sabia
