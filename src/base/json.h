// JSON documents: Boost.JSON under a short name, and the few helpers that every reader needs.
//
// Parsing is bounded: depth 64, so that hostile nesting cannot exhaust the stack.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia {

namespace json = boost::json;

// Fails with kInvalidArgument and the position of the first bad byte.
Result<json::value> ParseJson(std::string_view text);
// The same with one memory for the whole document, which goes when the last part of it does:
// cheaper by far, for documents that are read rather than changed. Moving a part of it keeps that
// memory, assigning it to another object copies.
Result<json::value> ParseJsonAtOnce(std::string_view text);
Result<json::object> ParseJsonObject(std::string_view text);

// Readers of one member: the value, or nothing when the member is absent, null or of another type.
const json::object* FindObject(const json::object& object, std::string_view key);
const json::array* FindArray(const json::object& object, std::string_view key);
std::optional<std::string_view> FindString(const json::object& object, std::string_view key);
std::optional<std::int64_t> FindInt(const json::object& object, std::string_view key);
std::optional<double> FindDouble(const json::object& object, std::string_view key);
std::optional<bool> FindBool(const json::object& object, std::string_view key);

// The same with a default.
std::string GetString(const json::object& object, std::string_view key,
                      std::string_view fallback = "");
std::int64_t GetInt(const json::object& object, std::string_view key, std::int64_t fallback = 0);
double GetDouble(const json::object& object, std::string_view key, double fallback = 0);
bool GetBool(const json::object& object, std::string_view key, bool fallback = false);

inline std::string_view View(const json::string& s) { return {s.data(), s.size()}; }

}  // namespace sabia
