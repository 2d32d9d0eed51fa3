#include "model.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace sabia::schema_gen {
namespace {

constexpr std::array<std::string_view, 73> kKeywords{
    "alignas",  "alignof",  "and",      "asm",       "auto",    "bool",      "break",
    "case",     "catch",    "char",     "class",     "concept", "const",     "constexpr",
    "continue", "decltype", "default",  "delete",    "do",      "double",    "else",
    "enum",     "explicit", "export",   "extern",    "false",   "final",     "float",
    "for",      "friend",   "goto",     "if",        "import",  "inline",    "int",
    "long",     "module",   "mutable",  "namespace", "new",     "noexcept",  "not",
    "nullptr",  "operator", "or",       "override",  "private", "protected", "public",
    "register", "requires", "return",   "short",     "signed",  "sizeof",    "static",
    "struct",   "switch",   "template", "this",      "throw",   "true",      "try",
    "typedef",  "typename", "union",    "unsigned",  "using",   "virtual",   "void",
    "volatile", "while",    "xor"};

std::string ScalarType(std::string_view kind) {
  if (kind == "integer") return "std::int32_t";
  if (kind == "long") return "std::int64_t";
  if (kind == "float" || kind == "double") return "double";
  if (kind == "boolean") return "bool";
  if (kind == "timestamp") return "WallTime";
  if (kind == "blob") return "Blob";
  return "std::string";
}

std::string ShapeOf(const json::value& member) {
  return member.is_string() ? std::string(View(member.get_string()))
                            : GetString(member.get_object(), "shape");
}

class Builder {
 public:
  explicit Builder(const json::object& document) : document_(document) {}

  Result<Service> Build(const std::set<std::string>& actions) {
    service_.name = GetString(document_, "service");
    service_.identifier = service_.name;
    std::ranges::replace(service_.identifier, '-', '_');
    const json::object* operations = FindObject(document_, "operations");
    if (operations == nullptr || FindObject(document_, "shapes") == nullptr) {
      return Fail(ErrorCode::kCorrupt, "'{}' has no operations or shapes", service_.name);
    }
    for (const std::string& action : actions) {
      const json::object* operation = FindObject(*operations, action);
      if (operation == nullptr) {
        return Fail(ErrorCode::kNotFound, "'{}' has no action '{}'", service_.name, action);
      }
      for (const auto* side : {"input", "output"}) {
        if (operation->contains(side)) RETURN_IF_ERROR(Visit(GetString(*operation, side)));
      }
    }
    return std::move(service_);
  }

 private:
  Result<const json::object*> Shape(const std::string& name) {
    const json::object* shape = FindObject(*FindObject(document_, "shapes"), name);
    if (shape == nullptr) return Fail(ErrorCode::kCorrupt, "no shape '{}'", name);
    return shape;
  }

  // Emits the structure after everything that it contains; a cycle is closed by a forward
  // declaration inside a list, a map or a Box.
  Status Visit(const std::string& name) {
    if (done_.contains(name)) return {};
    open_.insert(name);
    ASSIGN_OR_RETURN(const json::object* shape, Shape(name));
    Structure structure{name, {}};
    if (const json::object* members = FindObject(*shape, "members")) {
      for (const auto& entry : *members) {
        const std::string field_name(entry.key());
        // Streams travel beside the structure, never in it.
        if (entry.value().is_object() && GetBool(entry.value().get_object(), "streaming")) continue;
        ASSIGN_OR_RETURN(std::string type, TypeOf(ShapeOf(entry.value()), false));
        structure.fields.push_back({field_name, SnakeCase(field_name), std::move(type)});
      }
    }
    open_.erase(name);
    done_.insert(name);
    service_.structures.push_back(std::move(structure));
    return {};
  }

  Result<std::string> TypeOf(const std::string& name, bool in_container) {
    ASSIGN_OR_RETURN(const json::object* shape, Shape(name));
    const std::string kind = GetString(*shape, "type");
    if (kind == "list") {
      ASSIGN_OR_RETURN(std::string element, TypeOf(ShapeOf(shape->at("member")), true));
      return "std::vector<" + element + ">";
    }
    if (kind == "map") {
      ASSIGN_OR_RETURN(std::string value, TypeOf(ShapeOf(shape->at("value")), true));
      return "std::map<std::string, " + value + ">";
    }
    if (kind != "structure") return ScalarType(kind);
    if (open_.contains(name)) {
      service_.forward.insert(name);
      return in_container ? name : "Box<" + name + ">";
    }
    RETURN_IF_ERROR(Visit(name));
    return name;
  }

  const json::object& document_;
  Service service_;
  std::set<std::string> open_;
  std::set<std::string> done_;
};

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

}  // namespace

// A new word starts at a capital behind a small letter or digit, and at the last of several
// capitals before a small one.
std::string SnakeCase(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool after_small = i > 0 && !IsUpper(name[i - 1]);
    const bool before_small = i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    if (IsUpper(c) && i > 0 && (after_small || before_small)) out += '_';
    out += IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (std::ranges::find(kKeywords, out) != kKeywords.end()) out += '_';
  return out;
}

Result<std::map<std::string, std::set<std::string>>> ReadActions(const std::string& text) {
  std::map<std::string, std::set<std::string>> actions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string service;
    std::string action;
    std::string rest;
    if (!(words >> service)) continue;
    if (!(words >> action) || words >> rest) {
      return Fail(ErrorCode::kInvalidArgument, "expected 'service Action', found '{}'", line);
    }
    actions[service].insert(action);
  }
  return actions;
}

Result<Service> MakeService(const json::object& document, const std::set<std::string>& actions) {
  return Builder(document).Build(actions);
}

}  // namespace sabia::schema_gen
