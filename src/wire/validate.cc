// Validate: walks a request beside its shape and words what is wrong as AWS does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "wire/constraints.h"
#include "wire/schema.h"

namespace sabia::wire {
namespace {

// A hostile request must not buy an answer of megabytes.
constexpr std::size_t kViolationsQuotedMax = 50;
constexpr std::size_t kNameBytesMax = 128;

class Validator {
 public:
  AwsResult<void> Check(const Shape& shape, const json::object& input) {
    CheckStructure(shape, input);
    if (!type_problem_.empty()) {
      return Refuse("SerializationException", 400, "{}", type_problem_);
    }
    if (count_ == 0) return {};
    return RefuseValidation("{} validation error{} detected: {}{}", count_, count_ == 1 ? "" : "s",
                            fmt::join(violations_, "; "),
                            count_ > violations_.size()
                                ? fmt::format("; and {} more", count_ - violations_.size())
                                : "");
  }

 private:
  // Appends to the path for as long as it lives.
  class Step {
   public:
    Step(std::string& path, std::string_view segment) : path_(path), size_(path.size()) {
      if (!path_.empty()) path_ += '.';
      path_ += segment;
    }
    ~Step() { path_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& path_;
    std::size_t size_;
  };

  void Add(std::string_view value, std::string_view constraint) {
    ++count_;
    if (violations_.size() >= kViolationsQuotedMax) return;
    violations_.push_back(
        fmt::format("Value {}at '{}' failed to satisfy constraint: {}", value, path_, constraint));
  }
  void Add(const Shape& shape, const json::value& value, std::string_view constraint) {
    const auto quoted = QuotedValue(shape, value);
    Add(quoted ? fmt::format("'{}' ", *quoted) : std::string(), constraint);
  }

  bool HasType(const Shape& shape, TimestampFormat format, const json::value& value) {
    if (!type_problem_.empty()) return false;
    const std::string problem = TypeProblem(shape, format, value);
    if (!problem.empty()) type_problem_ = fmt::format("{} at '{}'", problem, path_);
    return problem.empty();
  }

  static TimestampFormat FormatOf(const Member& member) {
    return member.timestamp_format != TimestampFormat::kDefault ? member.timestamp_format
                                                                : member.shape->timestamp_format;
  }

  void CheckStructure(const Shape& shape, const json::object& input) {
    std::size_t set = 0;
    for (const Member& member : shape.members) {
      const json::value* value = input.if_contains(member.name);
      if (value == nullptr || value->is_null()) {
        if (!member.required) continue;
        const Step step(path_, LowerCamelCase(member.name));
        Add("null ", "Member must not be null");
        continue;
      }
      ++set;
      const Step step(path_, LowerCamelCase(member.name));
      CheckValue(member, *value);
    }
    CheckUnknown(shape, input);
    if (shape.is_union && set != 1) {
      Add("", fmt::format("Member must have exactly one member set of [{}]; {} are set",
                          fmt::join(MemberNames(shape), ", "), set));
    }
  }

  static std::vector<std::string_view> MemberNames(const Shape& shape) {
    std::vector<std::string_view> names;
    for (const Member& member : shape.members) names.push_back(member.name);
    return names;
  }

  void CheckUnknown(const Shape& shape, const json::object& input) {
    for (const auto& entry : input) {
      const std::string_view name(entry.key());
      // "__type" of a union or structure is AWS's own annotation; some SDKs send it.
      if (name == "__type" || shape.FindMember(name) != nullptr) continue;
      const Step step(path_, LowerCamelCase(CutText(name, kNameBytesMax)));
      Add("", fmt::format("{} has no member named '{}'", shape.name, CutText(name, kNameBytesMax)));
    }
  }

  void CheckValue(const Member& member, const json::value& value) {
    const Shape& shape = *member.shape;
    if (!HasType(shape, FormatOf(member), value)) return;
    for (const std::string& broken : BrokenConstraints(shape, value)) Add(shape, value, broken);
    if (shape.kind == ShapeKind::kStructure) CheckStructure(shape, value.get_object());
    if (shape.kind == ShapeKind::kList) CheckList(shape, value);
    if (shape.kind == ShapeKind::kMap) CheckMap(shape, value);
  }

  void CheckList(const Shape& list, const json::value& value) {
    const Member& element = *list.element;
    bool broken = false;
    std::size_t index = 0;
    for (const json::value& item : value.get_array()) {
      const Step number(path_, std::to_string(++index));
      const Step step(path_, "member");
      if (item.is_null()) {
        Add("null ", "Member must not be null");
      } else if (!element.shape->IsScalar()) {
        CheckValue(element, item);
      } else if (HasType(*element.shape, FormatOf(element), item)) {
        broken = broken || !BrokenConstraints(*element.shape, item).empty();
      }
      if (!type_problem_.empty()) return;
    }
    if (broken) AddForAll(list, value, "Member must satisfy constraint", *element.shape);
  }

  void CheckMap(const Shape& map, const json::value& value) {
    const Shape& key = *map.map_key->shape;
    const Member& content = *map.map_value;
    bool broken_key = false;
    bool broken_value = false;
    for (const auto& entry : value.get_object()) {
      const std::string_view name(entry.key());
      broken_key = broken_key || !BrokenConstraints(key, json::value(name)).empty();
      const Step outer(path_, CutText(name, kNameBytesMax));
      const Step step(path_, "member");
      const json::value& item = entry.value();
      if (item.is_null()) {
        Add("null ", "Member must not be null");
      } else if (!content.shape->IsScalar()) {
        CheckValue(content, item);
      } else if (HasType(*content.shape, FormatOf(content), item)) {
        broken_value = broken_value || !BrokenConstraints(*content.shape, item).empty();
      }
      if (!type_problem_.empty()) return;
    }
    if (broken_key) AddForAll(map, value, "Map keys must satisfy constraint", key);
    if (broken_value) AddForAll(map, value, "Map value must satisfy constraint", *content.shape);
  }

  // One violation of the whole aggregate, which names every constraint of its scalars: AWS does not
  // say which failed.
  void AddForAll(const Shape& aggregate, const json::value& value, std::string_view what,
                 const Shape& part) {
    Add(aggregate, value, fmt::format("{}: [{}]", what, fmt::join(ConstraintTexts(part), ", ")));
  }

  std::string path_;
  std::vector<std::string> violations_;
  std::size_t count_ = 0;
  std::string type_problem_;
};

}  // namespace

AwsResult<void> Validate(const Shape& shape, const json::object& input) {
  return Validator().Check(shape, input);
}

}  // namespace sabia::wire
