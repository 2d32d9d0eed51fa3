#include "base/encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sabia {
namespace {

constexpr char kHexLower[] = "0123456789abcdef";
constexpr char kHexUpper[] = "0123456789ABCDEF";
constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

unsigned Byte(char c) { return static_cast<unsigned char>(c); }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::array<std::int8_t, 256> MakeBase64Values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::int8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kBase64[i])] = i;
  return values;
}
constexpr auto kBase64Values = MakeBase64Values();

bool IsUnreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Length of the UTF-8 sequence that starts at text[i], or 0 when it is malformed.
std::size_t Utf8Length(std::string_view text, std::size_t i) {
  const unsigned lead = Byte(text[i]);
  if (lead < 0x80) return 1;
  const std::size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (n == 0 || lead > 0xF4 || i + n > text.size()) return 0;
  for (std::size_t k = 1; k < n; ++k) {
    if ((Byte(text[i + k]) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = Byte(text[i + 1]);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90)) {
    return 0;
  }
  return n;
}

}  // namespace

std::string HexEncode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out += kHexLower[Byte(c) >> 4];
    out += kHexLower[Byte(c) & 15];
  }
  return out;
}

Result<std::string> HexDecode(std::string_view text) {
  if (text.size() % 2 != 0) return Fail(ErrorCode::kInvalidArgument, "odd number of hex digits");
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return Fail(ErrorCode::kInvalidArgument, "no hex digit at {}", i);
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::string Base64Encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    unsigned group = Byte(bytes[i]) << 16;
    if (left > 1) group |= Byte(bytes[i + 1]) << 8;
    if (left > 2) group |= Byte(bytes[i + 2]);
    out += kBase64[group >> 18];
    out += kBase64[(group >> 12) & 63];
    out += left > 1 ? kBase64[(group >> 6) & 63] : '=';
    out += left > 2 ? kBase64[group & 63] : '=';
  }
  return out;
}

Result<std::string> Base64Decode(std::string_view text) {
  if (text.size() % 4 != 0) return Fail(ErrorCode::kInvalidArgument, "bad base64 length");
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const int pad = !last ? 0 : text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    unsigned group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int value = static_cast<int>(k) >= 4 - pad ? 0 : kBase64Values[Byte(text[i + k])];
      if (value < 0) return Fail(ErrorCode::kInvalidArgument, "no base64 digit at {}", i + k);
      group = group << 6 | static_cast<unsigned>(value);
    }
    out += static_cast<char>(group >> 16);
    if (pad < 2) out += static_cast<char>(group >> 8 & 255);
    if (pad < 1) out += static_cast<char>(group & 255);
  }
  return out;
}

std::string UriEncode(std::string_view text, bool keep_slash) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || (keep_slash && c == '/')) {
      out += c;
    } else {
      out += '%';
      out += kHexUpper[Byte(c) >> 4];
      out += kHexUpper[Byte(c) & 15];
    }
  }
  return out;
}

Result<std::string> UriDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0)
        return Fail(ErrorCode::kInvalidArgument, "bad percent encoding at {}", i);
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

namespace {
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
}  // namespace

std::string ToLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = Lower(c);
  return out;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return x == y || Lower(x) == Lower(y); });
}

bool IsUtf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t n = Utf8Length(bytes, i);
    if (n == 0) return false;
    i += n;
  }
  return true;
}

}  // namespace sabia
