// What the generated structs (wire/gen/<service>.h) are made of: values to and from the schema's
// JSON form.
//
// Every member of a generated struct is optional: absent and empty are different things. Read
// leaves a member unset when the JSON value is absent, null or of another type, so that even
// unvalidated input cannot do harm; Write omits unset members. Timestamps are epoch seconds with
// milliseconds; blobs are base64.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace sabia::wire {

struct Blob {
  std::string bytes;
};

// A structure inside a structure of its own kind: a value on the heap that copies with its owner.
template <typename T>
class Box {
 public:
  Box() = default;
  explicit Box(T content) { content_.push_back(std::move(content)); }
  const T& operator*() const { return content_.front(); }  // REQUIRES: not default-constructed
  const T* operator->() const { return &content_.front(); }
  bool empty() const { return content_.empty(); }

 private:
  std::vector<T> content_;  // a vector, for it may hold an incomplete type
};

// The response of an action that answers nothing.
struct NoOutput {
  static NoOutput Decode(const json::object&) { return {}; }
  json::object Encode() const { return {}; }
};

namespace codec {

bool ReadValue(const json::value& in, std::string& out);
bool ReadValue(const json::value& in, std::int32_t& out);
bool ReadValue(const json::value& in, std::int64_t& out);
bool ReadValue(const json::value& in, double& out);  // also "NaN", "Infinity" and "-Infinity"
bool ReadValue(const json::value& in, bool& out);
bool ReadValue(const json::value& in, WallTime& out);
bool ReadValue(const json::value& in, Blob& out);

json::value WriteValue(const std::string& in);
json::value WriteValue(std::int32_t in);
json::value WriteValue(std::int64_t in);
json::value WriteValue(double in);
json::value WriteValue(bool in);
json::value WriteValue(WallTime in);
json::value WriteValue(const Blob& in);

template <typename T>
concept Struct = requires(const json::object& in, const T& value) {
  T::Decode(in);
  value.Encode();
};

template <Struct T>
bool ReadValue(const json::value& in, T& out) {
  if (!in.is_object()) return false;
  out = T::Decode(in.get_object());
  return true;
}
template <typename T>
bool ReadValue(const json::value& in, Box<T>& out) {
  T content{};
  if (!ReadValue(in, content)) return false;
  out = Box<T>(std::move(content));
  return true;
}
template <typename T>
bool ReadValue(const json::value& in, std::vector<T>& out);
template <typename T>
bool ReadValue(const json::value& in, std::map<std::string, T>& out) {
  if (!in.is_object()) return false;
  for (const auto& entry : in.get_object()) {
    T item{};
    if (ReadValue(entry.value(), item)) out.insert_or_assign(entry.key(), std::move(item));
  }
  return true;
}
template <typename T>
bool ReadValue(const json::value& in, std::vector<T>& out) {
  if (!in.is_array()) return false;
  out.reserve(in.get_array().size());
  for (const auto& entry : in.get_array()) {
    T item{};
    if (ReadValue(entry, item)) out.push_back(std::move(item));
  }
  return true;
}

template <Struct T>
json::value WriteValue(const T& in) {
  return in.Encode();
}
template <typename T>
json::value WriteValue(const Box<T>& in) {
  return in.empty() ? json::value(json::object()) : WriteValue(*in);
}
template <typename T>
json::value WriteValue(const std::vector<T>& in);
template <typename T>
json::value WriteValue(const std::map<std::string, T>& in) {
  json::object out;
  for (const auto& [key, item] : in) out.emplace(key, WriteValue(item));
  return out;
}
template <typename T>
json::value WriteValue(const std::vector<T>& in) {
  json::array out;
  out.reserve(in.size());
  for (const T& item : in) out.push_back(WriteValue(item));
  return out;
}

template <typename T>
void Read(const json::object& in, std::string_view key, std::optional<T>& out) {
  const json::value* value = in.if_contains(key);
  if (value == nullptr) return;
  T content{};
  if (ReadValue(*value, content)) out = std::move(content);
}
template <typename T>
void Write(json::object& out, std::string_view key, const std::optional<T>& in) {
  if (in) out.emplace(key, WriteValue(*in));
}

}  // namespace codec
}  // namespace sabia::wire
