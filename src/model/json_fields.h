// Reading and writing the members of our own JSON documents.
//
// A FieldReader collects the first problem, so that a document with twenty members is read without
// twenty checks. A missing member keeps the default of the struct: documents of an older version
// stay readable. A member of a wrong type is kCorrupt and named. Pure.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/shared_object.h"
#include "base/time.h"

namespace sabia::model {

template <typename Table, typename Enum>
std::string_view NameOf(const Table& table, Enum value) {
  for (const auto& [entry, name] : table) {
    if (entry == value) return name;
  }
  CHECK_MSG(false, "enumerator without a name");
}

template <typename Table>
auto FindName(const Table& table, std::string_view name)
    -> std::optional<typename Table::value_type::first_type> {
  for (const auto& [entry, text] : table) {
    if (text == name) return entry;
  }
  return std::nullopt;
}

json::array TextsToJson(const std::vector<std::string>& texts);
json::object TextMapToJson(const std::map<std::string, std::string>& map);
// The text of a document with one more member, "request", which is not serialized again.
// REQUIRES: the document has a member.
std::string WithRequest(std::string document, const SharedObject& request);
void AddTime(json::object& out, std::string_view key, const std::optional<WallTime>& time);

template <typename T, typename ToJson>
json::array ListToJson(const std::vector<T>& list, ToJson to_json) {
  json::array out;
  out.reserve(list.size());
  for (const T& item : list) out.push_back(to_json(item));
  return out;
}

class FieldReader {
 public:
  explicit FieldReader(const json::object& object) : object_(object) {}

  // The first problem met, if any.
  const Status& status() const { return status_; }

  void Text(std::string_view key, std::string& out);
  void Texts(std::string_view key, std::vector<std::string>& out);
  void TextMap(std::string_view key, std::map<std::string, std::string>& out);
  void Object(std::string_view key, json::object& out);
  void Object(std::string_view key, SharedObject& out);
  void Flag(std::string_view key, bool& out);
  void Real(std::string_view key, double& out);
  void Duration(std::string_view key, Millis& out);
  void Time(std::string_view key, WallTime& out);
  void OptionalTime(std::string_view key, std::optional<WallTime>& out);

  template <std::integral T>
  void Integer(std::string_view key, T& out) {
    if (const auto value = Number(key)) out = static_cast<T>(*value);
  }
  template <std::integral T>
  void OptionalInteger(std::string_view key, std::optional<T>& out) {
    if (const auto value = Number(key)) out = static_cast<T>(*value);
  }
  template <typename Table, typename Value>
  void Enum(std::string_view key, const Table& table, Value& out) {
    std::string name;
    Text(key, name);
    if (name.empty()) return;
    const auto found = FindName(table, name);
    if (found) {
      out = *found;
    } else {
      Complain(key, "names nothing known");
    }
  }
  // A map from enumerator names to times.
  template <typename Table, typename Key>
  void TimesByName(std::string_view key, const Table& table, std::map<Key, WallTime>& out) {
    const json::object* map = FindObject(object_, key);
    if (map == nullptr) return;
    for (const auto& [name, value] : *map) {
      const auto found = FindName(table, std::string_view(name));
      if (!found || !value.is_number()) return Complain(key, "is no map of times");
      out[*found] = FromUnixMillis(value.template to_number<std::int64_t>());
    }
  }
  template <typename T, typename FromJson>
  void List(std::string_view key, FromJson from_json, std::vector<T>& out) {
    const json::array* array = FindArray(object_, key);
    if (array == nullptr) return;
    for (const json::value& item : *array) {
      if (!item.is_object()) return Complain(key, "holds something that is no object");
      auto parsed = from_json(item.get_object());
      if (!parsed) return Complain(key, parsed.error().message);
      out.push_back(std::move(parsed).value());
    }
  }

 private:
  std::optional<std::int64_t> Number(std::string_view key);
  const json::value* Find(std::string_view key) const;
  void Complain(std::string_view key, std::string_view problem);

  const json::object& object_;
  Status status_;
};

}  // namespace sabia::model
