#include "model/json_fields.h"

namespace sabia::model {

json::array TextsToJson(const std::vector<std::string>& texts) {
  json::array out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

json::object TextMapToJson(const std::map<std::string, std::string>& map) {
  json::object out;
  for (const auto& [key, value] : map) out[key] = value;
  return out;
}

std::string WithRequest(std::string document, const SharedObject& request) {
  document.back() = ',';
  return std::move(document.append("\"request\":").append(request.text()).append("}"));
}

void AddTime(json::object& out, std::string_view key, const std::optional<WallTime>& time) {
  if (time) out[key] = ToUnixMillis(*time);
}

const json::value* FieldReader::Find(std::string_view key) const {
  const json::value* v = object_.if_contains(key);
  return v == nullptr || v->is_null() ? nullptr : v;
}

void FieldReader::Complain(std::string_view key, std::string_view problem) {
  if (status_) status_ = Fail(ErrorCode::kCorrupt, "member '{}' {}", key, problem);
}

std::optional<std::int64_t> FieldReader::Number(std::string_view key) {
  if (Find(key) == nullptr) return std::nullopt;
  const auto value = FindInt(object_, key);
  if (!value) Complain(key, "is no integer");
  return value;
}

void FieldReader::Text(std::string_view key, std::string& out) {
  const json::value* v = Find(key);
  if (v == nullptr) return;
  if (!v->is_string()) return Complain(key, "is no string");
  out = View(v->get_string());
}

void FieldReader::Texts(std::string_view key, std::vector<std::string>& out) {
  const json::value* v = Find(key);
  if (v == nullptr) return;
  if (!v->is_array()) return Complain(key, "is no list");
  for (const json::value& item : v->get_array()) {
    if (!item.is_string()) return Complain(key, "holds something that is no string");
    out.emplace_back(View(item.get_string()));
  }
}

void FieldReader::TextMap(std::string_view key, std::map<std::string, std::string>& out) {
  const json::value* v = Find(key);
  if (v == nullptr) return;
  if (!v->is_object()) return Complain(key, "is no object");
  for (const auto& [name, value] : v->get_object()) {
    if (!value.is_string()) return Complain(key, "holds something that is no string");
    out[std::string(name)] = View(value.get_string());
  }
}

void FieldReader::Object(std::string_view key, json::object& out) {
  const json::value* v = Find(key);
  if (v == nullptr) return;
  if (!v->is_object()) return Complain(key, "is no object");
  out = v->get_object();
}

void FieldReader::Object(std::string_view key, SharedObject& out) {
  json::object object;
  Object(key, object);
  out = std::move(object);
}

void FieldReader::Flag(std::string_view key, bool& out) {
  const json::value* v = Find(key);
  if (v == nullptr) return;
  if (!v->is_bool()) return Complain(key, "is no boolean");
  out = v->get_bool();
}

void FieldReader::Real(std::string_view key, double& out) {
  const json::value* v = Find(key);
  if (v == nullptr) return;
  if (!v->is_number()) return Complain(key, "is no number");
  out = v->to_number<double>();
}

void FieldReader::Duration(std::string_view key, Millis& out) {
  if (const auto value = Number(key)) out = Millis(*value);
}

void FieldReader::Time(std::string_view key, WallTime& out) {
  if (const auto value = Number(key)) out = FromUnixMillis(*value);
}

void FieldReader::OptionalTime(std::string_view key, std::optional<WallTime>& out) {
  if (const auto value = Number(key)) out = FromUnixMillis(*value);
}

}  // namespace sabia::model
