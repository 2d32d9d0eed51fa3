#include "wire/http.h"

#include <algorithm>

#include "base/encoding.h"

namespace sabia::wire {
namespace {

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr std::size_t kReadAllStep = 16 << 10;

}  // namespace

void Headers::Set(std::string_view name, std::string value) {
  std::erase_if(fields_, [&](const auto& field) { return EqualsIgnoreCase(field.first, name); });
  fields_.emplace_back(std::string(name), std::move(value));
}

std::optional<std::string_view> Headers::Find(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (key.size() == name.size() && EqualsIgnoreCase(key, name)) return Trim(value);
  }
  return std::nullopt;
}

Result<QueryParameters> QueryParameters::Parse(std::string_view raw) {
  QueryParameters result;
  while (!raw.empty()) {
    const std::size_t end = std::min(raw.find('&'), raw.size());
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(std::min(end + 1, raw.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    ASSIGN_OR_RETURN(std::string name, UriDecode(pair.substr(0, equals), true));
    const std::string_view raw_value = pair.substr(std::min(equals + 1, pair.size()));
    ASSIGN_OR_RETURN(std::string value, UriDecode(raw_value, true));
    result.all_.emplace_back(std::move(name), std::move(value));
  }
  return result;
}

std::optional<std::string_view> QueryParameters::Find(std::string_view name) const {
  for (const auto& [key, value] : all_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<std::string> ReadAll(BodyReader& body, std::size_t limit) {
  std::string content;
  std::size_t size = 0;
  for (;;) {
    // One byte beyond the limit is enough to know that the body is too long.
    const std::size_t step = std::min(std::max(kReadAllStep, size), limit + 1 - size);
    content.resize(size + step);
    auto got = body.Read(std::span<char>(content.data() + size, step));
    if (!got) return tl::make_unexpected(std::move(got).error());
    size += *got;
    if (*got == 0) break;
    if (size > limit) {
      return Fail(ErrorCode::kResourceExhausted, "the body is longer than {} bytes", limit);
    }
  }
  content.resize(size);
  return content;
}

std::string_view ReasonPhrase(unsigned status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Requested Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 424:
      return "Failed Dependency";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    case 529:
      return "Site Is Overloaded";
    default:
      return status < 400 ? "OK" : "Error";
  }
}

}  // namespace sabia::wire
