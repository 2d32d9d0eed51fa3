#include "base/encoding.h"
#include "wire/scalar_text.h"
#include "wire/xml_codec.h"
#include "wire/xml_names.h"

namespace sabia::wire {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The length of the well-formed UTF-8 character at the start; 0 for none.
std::size_t CharacterSize(std::string_view text) {
  for (std::size_t n = 1; n <= 4 && n <= text.size(); ++n) {
    if (IsUtf8(text.substr(0, n))) return n;
  }
  return 0;
}

void EscapeAscii(char c, std::string& out) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&apos;";
      return;
    default:
      break;
  }
  // Parsers normalise a bare carriage return away.
  const bool kept = static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t';
  if (!kept) {
    out += fmt::format("&#x{:x};", static_cast<unsigned>(c));
  } else {
    out += c;
  }
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      EscapeAscii(text[i++], out);
      continue;
    }
    const std::size_t n = CharacterSize(text.substr(i, 4));
    out += n == 0 ? kReplacement : text.substr(i, n);
    i += n == 0 ? 1 : n;
  }
  return out;
}

namespace {

void Open(std::string_view name, std::string& out) {
  out += '<';
  out += name;
  out += '>';
}
void Close(std::string_view name, std::string& out) {
  out += "</";
  out += name;
  out += '>';
}

void EncodeContent(const Member& member, const json::value& value, std::string& out);

void EncodeNamed(const Member& member, std::string_view name, const json::value& value,
                 std::string& out) {
  Open(name, out);
  EncodeContent(member, value, out);
  Close(name, out);
}

void EncodeEntry(const Shape& map, std::string_view name, const json::key_value_pair& entry,
                 std::string& out) {
  const auto key = PartName(*map.map_key, "key");
  Open(name, out);
  Open(key, out);
  out += EscapeXml(entry.key());
  Close(key, out);
  EncodeNamed(*map.map_value, PartName(*map.map_value, "value"), entry.value(), out);
  Close(name, out);
}

// What stands between the tags. A value whose JSON type is not the shape's is written as nothing.
void EncodeContent(const Member& member, const json::value& value, std::string& out) {
  const Shape& shape = *member.shape;
  if (shape.kind == ShapeKind::kStructure) {
    if (value.is_object()) EncodeXmlMembers(shape, value.get_object(), out);
  } else if (shape.kind == ShapeKind::kList) {
    if (!value.is_array()) return;
    for (const auto& item : value.get_array())
      EncodeNamed(*shape.element, ElementName(shape), item, out);
  } else if (shape.kind == ShapeKind::kMap) {
    if (!value.is_object()) return;
    for (const auto& entry : value.get_object()) EncodeEntry(shape, "entry", entry, out);
  } else {
    out += EscapeXml(ScalarToText(member, value, TimestampFormat::kIso8601));
  }
}

}  // namespace

void EncodeXml(const Member& member, const json::value& value, std::string& out) {
  if (value.is_null()) return;
  const Shape& shape = *member.shape;
  if (!IsFlattened(member)) {
    EncodeNamed(member, XmlName(member), value, out);
  } else if (value.is_array()) {
    for (const auto& item : value.get_array())
      EncodeNamed(*shape.element, XmlName(member), item, out);
  } else if (value.is_object()) {
    for (const auto& entry : value.get_object()) EncodeEntry(shape, XmlName(member), entry, out);
  }
}

void EncodeXmlMembers(const Shape& structure, const json::object& value, std::string& out) {
  for (const Member& member : structure.members) {
    const json::value* content = value.if_contains(member.name);
    if (content != nullptr) EncodeXml(member, *content, out);
  }
}

}  // namespace sabia::wire
