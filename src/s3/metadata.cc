#include "s3/metadata.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/encoding.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kUserMetadataBytesMax = 2048;
constexpr std::string_view kUserPrefix = "x-amz-meta-";
constexpr std::string_view kEncryption = "x-amz-server-side-encryption";
constexpr std::string_view kRedirect = "x-amz-website-redirect-location";
constexpr std::size_t kRedirectBytesMax = 2048;
constexpr std::array<std::string_view, 6> kSystemHeaders = {
    "cache-control",    "content-disposition", "content-encoding",
    "content-language", "content-type",        "expires"};

// aws-chunked describes the transfer, not the object.
std::string WithoutChunked(std::string_view encodings) {
  std::string out;
  while (!encodings.empty()) {
    const std::size_t comma = std::min(encodings.find(','), encodings.size());
    std::string_view item = encodings.substr(0, comma);
    encodings.remove_prefix(std::min(comma + 1, encodings.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.empty() || EqualsIgnoreCase(item, "aws-chunked")) continue;
    out += fmt::format("{}{}", out.empty() ? "" : ",", item);
  }
  return out;
}

wire::AwsResult<std::string> ReadRedirect(const wire::Headers& headers) {
  const std::string_view where = headers.Get(kRedirect);
  if (where.empty()) return std::string();
  if (where.size() > kRedirectBytesMax) {
    return wire::Refuse("InvalidRedirectLocation", 400,
                        "The length of website redirect location cannot exceed {} characters.",
                        kRedirectBytesMax);
  }
  if (!where.starts_with('/') && !where.starts_with("http://") && !where.starts_with("https://")) {
    return wire::Refuse("InvalidRedirectLocation", 400,
                        "The website redirect location must have a prefix of 'http://' or "
                        "'https://' or '/'.");
  }
  return std::string(where);
}

}  // namespace

wire::AwsResult<Metadata> ReadMetadata(const wire::Headers& headers) {
  Metadata out;
  std::size_t user_bytes = 0;
  for (const auto& field : headers.fields()) {
    const std::string name = ToLower(field.first);
    if (!name.starts_with(kUserPrefix)) continue;
    const std::string value(headers.Get(name));
    if (!out.emplace(name, value).second) continue;
    user_bytes += name.size() - kUserPrefix.size() + value.size();
  }
  if (user_bytes > kUserMetadataBytesMax) {
    return wire::Refuse("MetadataTooLarge", 400,
                        "Your metadata headers exceed the maximum allowed metadata size");
  }
  for (const std::string_view name : kSystemHeaders) {
    std::string value(headers.Get(name));
    if (name == "content-encoding") value = WithoutChunked(value);
    if (!value.empty()) out.emplace(name, std::move(value));
  }
  ASSIGN_OR_RETURN(const std::string redirect, ReadRedirect(headers));
  if (!redirect.empty()) out.emplace(kRedirect, redirect);
  for (const std::string_view suffix : {"", "-aws-kms-key-id", "-bucket-key-enabled"}) {
    const std::string name = fmt::format("{}{}", kEncryption, suffix);
    if (headers.Has(name)) out.emplace(name, headers.Get(name));
  }
  return out;
}

void AddMetadata(const Metadata& metadata, wire::Headers& headers) {
  for (const auto& [name, value] : metadata) headers.Add(name, value);
  if (!metadata.contains("content-type")) headers.Add("content-type", "binary/octet-stream");
}

void ForgetRequested(Metadata& metadata) {
  std::erase_if(metadata, [](const auto& entry) {
    return entry.first.starts_with(kEncryption) || entry.first == kRedirect;
  });
}

void KeepEncryption(const Metadata& from, Metadata& to) {
  const auto about = [](const auto& entry) { return entry.first.starts_with(kEncryption); };
  std::erase_if(to, about);
  std::copy_if(from.begin(), from.end(), std::inserter(to, to.end()), about);
}

void AddEncryption(const Metadata& metadata, wire::Headers& headers) {
  for (const auto& [name, value] : metadata) {
    if (name.starts_with(kEncryption)) headers.Add(name, value);
  }
}

}  // namespace sabia::s3
