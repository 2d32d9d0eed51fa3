#include "spot/fields.h"

#include <cmath>

namespace sabia::spot {
namespace {

constexpr std::size_t kQuotedMax = 60;

std::string Quote(const json::value& value) {
  std::string text = json::serialize(value);
  if (text.size() > kQuotedMax) text = text.substr(0, kQuotedMax) + "...";
  return text;
}

std::string Describe(std::string_view what, Range range) {
  if (range.most == std::numeric_limits<double>::max()) {
    return fmt::format("{} of at least {}", what, range.least);
  }
  return fmt::format("{} from {} to {}", what, range.least, range.most);
}

bool IsIn(double value, Range range) { return value >= range.least && value <= range.most; }

}  // namespace

Result<Fields> Fields::Of(const json::value& value, std::string place) {
  if (value.is_object()) return Fields(value.get_object(), std::move(place));
  return Fail(ErrorCode::kInvalidArgument, "{} is {}: an object", place, Quote(value));
}

std::string Fields::Place(std::string_view name) const {
  return place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name);
}

tl::unexpected<Error> Fields::Bad(std::string_view name, std::string_view what) const {
  return Fail(ErrorCode::kInvalidArgument, "{} {}", Place(name), what);
}

tl::unexpected<Error> Fields::Missing(std::string_view name, std::string_view allowed) const {
  return Bad(name, fmt::format("is missing: {}", allowed));
}

const json::value* Fields::Find(std::string_view name) {
  asked_.emplace(name);
  return object_.if_contains(name);
}

Result<double> Fields::Number(std::string_view name, Range range, std::optional<double> fallback) {
  const json::value* value = Find(name);
  const std::string allowed = Describe("a number", range);
  if (value == nullptr) {
    if (fallback) return *fallback;
    return Missing(name, allowed);
  }
  const double number = value->is_number() ? value->to_number<double>() : std::nan("");
  if (!IsIn(number, range)) return Bad(name, fmt::format("is {}: {}", Quote(*value), allowed));
  return number;
}

Result<std::int64_t> Fields::Whole(std::string_view name, Range range,
                                   std::optional<std::int64_t> fallback) {
  const json::value* value = Find(name);
  const std::string allowed = Describe("a whole number", range);
  if (value == nullptr) {
    if (fallback) return *fallback;
    return Missing(name, allowed);
  }
  if (!value->is_int64() || !IsIn(static_cast<double>(value->get_int64()), range)) {
    return Bad(name, fmt::format("is {}: {}", Quote(*value), allowed));
  }
  return value->get_int64();
}

Result<Millis> Fields::Time(std::string_view name, Millis unit, Range range,
                            std::optional<double> fallback) {
  ASSIGN_OR_RETURN(const double number, Number(name, range, fallback));
  return Millis(std::llround(number * static_cast<double>(unit.count())));
}

Result<std::string> Fields::Text(std::string_view name, std::optional<std::string> fallback) {
  const json::value* value = Find(name);
  if (value == nullptr) {
    if (fallback) return *fallback;
    return Missing(name, "a text");
  }
  if (!value->is_string()) return Bad(name, fmt::format("is {}: a text", Quote(*value)));
  return std::string(View(value->get_string()));
}

Result<std::string> Fields::OneOf(std::string_view name,
                                  const std::vector<std::string_view>& allowed,
                                  std::string_view fallback) {
  ASSIGN_OR_RETURN(std::string text, Text(name, std::string(fallback)));
  for (const std::string_view one : allowed) {
    if (text == one) return text;
  }
  return Bad(name, fmt::format("is '{}': one of {}", text, fmt::join(allowed, ", ")));
}

Result<bool> Fields::Flag(std::string_view name, bool fallback) {
  const json::value* value = Find(name);
  if (value == nullptr) return fallback;
  if (!value->is_bool()) return Bad(name, fmt::format("is {}: true or false", Quote(*value)));
  return value->get_bool();
}

Result<std::optional<WallTime>> Fields::Moment(std::string_view name) {
  const json::value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    if (const auto time = ParseIso8601(View(value->get_string()))) return *time;
  }
  return Bad(name, fmt::format("is {}: a time as 2026-01-31T12:00:00Z", Quote(*value)));
}

Result<std::optional<Money>> Fields::Dollars(std::string_view name) {
  if (!object_.contains(name)) {
    Find(name);
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(const double dollars, Number(name, {0, 1e6}));
  return Money::FromNanos(std::llround(dollars * 1e9));
}

Result<const json::array*> Fields::List(std::string_view name) {
  const json::value* value = Find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) return Bad(name, fmt::format("is {}: a list", Quote(*value)));
  return &value->get_array();
}

Result<const json::object*> Fields::Object(std::string_view name) {
  const json::value* value = Find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) return Bad(name, fmt::format("is {}: an object", Quote(*value)));
  return &value->get_object();
}

Status Fields::Finish() const {
  for (const auto& member : object_) {
    if (asked_.contains(std::string_view(member.key()))) continue;
    const std::string_view where = place_.empty() ? "the document" : std::string_view(place_);
    return Fail(ErrorCode::kInvalidArgument, "{} has an unknown member '{}'; known are {}", where,
                std::string_view(member.key()), fmt::join(asked_, ", "));
  }
  return {};
}

}  // namespace sabia::spot
