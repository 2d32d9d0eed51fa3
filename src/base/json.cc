#include "base/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sabia {

namespace {

Result<json::value> Parse(std::string_view text, json::storage_ptr storage) {
  boost::system::error_code ec;
  json::parse_options options;
  options.max_depth = 64;
  std::array<unsigned char, 4096> scratch;  // of the parser itself
  json::stream_parser parser(json::storage_ptr(), options, scratch.data(), scratch.size());
  parser.reset(std::move(storage));
  const std::size_t used = parser.write_some(text.data(), text.size(), ec);
  if (!ec && used < text.size()) {
    return Fail(ErrorCode::kInvalidArgument, "extra data behind the JSON text at byte {}", used);
  }
  if (!ec) parser.finish(ec);
  if (ec) {
    return Fail(ErrorCode::kInvalidArgument, "bad JSON at byte {}: {}", used, ec.message());
  }
  return parser.release();
}

}  // namespace

Result<json::value> ParseJson(std::string_view text) { return Parse(text, json::storage_ptr()); }

Result<json::value> ParseJsonAtOnce(std::string_view text) {
  constexpr std::size_t kFirstBlockMax = 16 << 10;
  const std::size_t block = std::min(kFirstBlockMax, 512 + 3 * text.size());
  return Parse(text, json::make_shared_resource<json::monotonic_resource>(block));
}

Result<json::object> ParseJsonObject(std::string_view text) {
  ASSIGN_OR_RETURN(json::value value, ParseJson(text));
  if (!value.is_object()) return Fail(ErrorCode::kInvalidArgument, "expected a JSON object");
  return std::move(value.get_object());
}

const json::object* FindObject(const json::object& object, std::string_view key) {
  const json::value* v = object.if_contains(key);
  return v == nullptr ? nullptr : v->if_object();
}

const json::array* FindArray(const json::object& object, std::string_view key) {
  const json::value* v = object.if_contains(key);
  return v == nullptr ? nullptr : v->if_array();
}

std::optional<std::string_view> FindString(const json::object& object, std::string_view key) {
  const json::value* v = object.if_contains(key);
  if (v == nullptr || !v->is_string()) return std::nullopt;
  return View(v->get_string());
}

std::optional<std::int64_t> FindInt(const json::object& object, std::string_view key) {
  const json::value* v = object.if_contains(key);
  if (v == nullptr) return std::nullopt;
  if (v->is_int64()) return v->get_int64();
  if (v->is_uint64() && v->get_uint64() <= INT64_MAX)
    return static_cast<std::int64_t>(v->get_uint64());
  if (v->is_double() && std::floor(v->get_double()) == v->get_double() &&
      std::fabs(v->get_double()) < 9e15) {
    return static_cast<std::int64_t>(v->get_double());
  }
  return std::nullopt;
}

std::optional<double> FindDouble(const json::object& object, std::string_view key) {
  const json::value* v = object.if_contains(key);
  if (v == nullptr || !v->is_number()) return std::nullopt;
  return v->to_number<double>();
}

std::optional<bool> FindBool(const json::object& object, std::string_view key) {
  const json::value* v = object.if_contains(key);
  if (v == nullptr || !v->is_bool()) return std::nullopt;
  return v->get_bool();
}

std::string GetString(const json::object& object, std::string_view key, std::string_view fallback) {
  return std::string(FindString(object, key).value_or(fallback));
}

std::int64_t GetInt(const json::object& object, std::string_view key, std::int64_t fallback) {
  return FindInt(object, key).value_or(fallback);
}

double GetDouble(const json::object& object, std::string_view key, double fallback) {
  return FindDouble(object, key).value_or(fallback);
}

bool GetBool(const json::object& object, std::string_view key, bool fallback) {
  return FindBool(object, key).value_or(fallback);
}

}  // namespace sabia
