#include "agent/python_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sabia::agent {
namespace {

std::vector<std::string_view> SortedKeys(const json::object& object) {
  std::vector<std::string_view> keys;
  for (const auto& member : object) keys.emplace_back(member.key().data(), member.key().size());
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Python prefers single quotes, and double ones when the text has single quotes only.
std::string ReprString(std::string_view text) {
  const bool single = text.find('\'') != text.npos;
  const char quote = single && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

}  // namespace

json::value DecodeHyperparameter(std::string_view text) {
  // json.loads takes these three, which JSON does not have.
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  auto parsed = ParseJson(text);
  if (!parsed) return json::string(text);
  // An integer too long for 64 bits would come back as a rounded float; its text is what Python
  // prints.
  if (parsed->is_double() && text.find_first_not_of("-0123456789 \t\r\n") == text.npos) {
    return json::string(text);
  }
  return *std::move(parsed);
}

std::string PythonFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // {fmt} follows the rule of repr: the shortest digits that read back the same, an exponent
  // outside 1e-4..1e16.
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_of(".e") == digits.npos ? digits + ".0" : digits;
}

std::string PythonRepr(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "None";
    case json::kind::bool_:
      return value.get_bool() ? "True" : "False";
    case json::kind::int64:
      return std::to_string(value.get_int64());
    case json::kind::uint64:
      return std::to_string(value.get_uint64());
    case json::kind::double_:
      return PythonFloat(value.get_double());
    case json::kind::string:
      return ReprString(View(value.get_string()));
    case json::kind::array: {
      std::string out = "[";
      for (const json::value& item : value.get_array()) {
        if (out.size() > 1) out += ", ";
        out += PythonRepr(item);
      }
      return out + "]";
    }
    case json::kind::object: {
      std::string out = "{";
      for (const auto& member : value.get_object()) {
        if (out.size() > 1) out += ", ";
        out += ReprString({member.key().data(), member.key().size()}) + ": " +
               PythonRepr(member.value());
      }
      return out + "}";
    }
  }
  return {};
}

std::string ArgumentText(const json::value& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return std::string(View(value.get_string()));
  if (!value.is_object()) return PythonRepr(value);
  std::string out;
  for (const std::string_view key : SortedKeys(value.get_object())) {
    const json::value& item = value.get_object().at(key);
    if (!out.empty()) out += ',';
    out += fmt::format("{}={}", key,
                       item.is_string() ? std::string(View(item.get_string())) : PythonRepr(item));
  }
  return out;
}

std::string PythonJson(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return value.get_bool() ? "true" : "false";
    case json::kind::double_: {
      const double number = value.get_double();
      if (std::isnan(number)) return "NaN";
      if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
      return PythonFloat(number);
    }
    case json::kind::int64:
    case json::kind::uint64:
      return PythonRepr(value);
    case json::kind::string:
      return JsonString(View(value.get_string()));
    case json::kind::array: {
      std::string out = "[";
      for (const json::value& item : value.get_array()) {
        if (out.size() > 1) out += ',';
        out += PythonJson(item);
      }
      return out + "]";
    }
    case json::kind::object: {
      std::string out = "{";
      for (const std::string_view key : SortedKeys(value.get_object())) {
        if (out.size() > 1) out += ',';
        out += JsonString(key) + ":" + PythonJson(value.get_object().at(key));
      }
      return out + "}";
    }
  }
  return {};
}

std::string ShellQuote(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("@%+=:,./-_").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\"'\"'";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace sabia::agent
