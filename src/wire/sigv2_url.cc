#include "wire/sigv2_url.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/encoding.h"
#include "wire/sha256.h"

namespace sabia::wire {
namespace {

constexpr std::string_view kKeyId = "AWSAccessKeyId";
constexpr std::string_view kSignature = "Signature";
constexpr std::string_view kExpires = "Expires";
constexpr std::string_view kToken = "x-amz-security-token";

// Parameters that belong to the signed resource, in order.
constexpr std::array<std::string_view, 35> kResources = {"accelerate",
                                                         "acl",
                                                         "analytics",
                                                         "cors",
                                                         "defaultObjectAcl",
                                                         "delete",
                                                         "inventory",
                                                         "lifecycle",
                                                         "location",
                                                         "logging",
                                                         "metrics",
                                                         "notification",
                                                         "object-lock",
                                                         "partNumber",
                                                         "policy",
                                                         "replication",
                                                         "requestPayment",
                                                         "response-cache-control",
                                                         "response-content-disposition",
                                                         "response-content-encoding",
                                                         "response-content-language",
                                                         "response-content-type",
                                                         "response-expires",
                                                         "restore",
                                                         "select",
                                                         "select-type",
                                                         "storageClass",
                                                         "tagging",
                                                         "torrent",
                                                         "uploadId",
                                                         "uploads",
                                                         "versionId",
                                                         "versioning",
                                                         "versions",
                                                         "website"};

bool IsAmz(std::string_view name) {
  return name.size() > 6 && EqualsIgnoreCase(name.substr(0, 6), "x-amz-");
}

bool IsResource(std::string_view name) {
  return std::binary_search(kResources.begin(), kResources.end(), name);
}

bool IsCovered(std::string_view name) {
  return IsResource(name) || IsAmz(name) || name == kKeyId || name == kSignature ||
         name == kExpires || EqualsIgnoreCase(name, "content-md5") ||
         EqualsIgnoreCase(name, "content-type");
}

// Such a URL carries as parameters what else would be header fields.
std::string_view FieldOrParameter(const RequestHead& head, const QueryParameters& query,
                                  std::string_view name) {
  if (const auto field = head.headers.Find(name)) return *field;
  return query.Find(name).value_or("");
}

std::string HmacSha1Base64(std::string_view key, std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  ::HMAC(::EVP_sha1(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(data.data()), data.size(), out.data(), &size);
  return Base64Encode({reinterpret_cast<const char*>(out.data()), size});
}

AuthResult<void> CheckExpiry(std::string_view expires, WallTime now) {
  std::int64_t seconds = 0;
  const char* const end = expires.data() + expires.size();
  const auto [at, error] = std::from_chars(expires.data(), end, seconds);
  if (at != end || error != std::errc() || seconds < 0) {
    return NotAuthentic(AuthProblem::kUrlMalformed,
                        "Invalid date (should be seconds since epoch): {}", expires);
  }
  if (ToUnixMillis(now) / 1000 <= seconds) return {};
  return tl::unexpected<AuthError>(
      AuthError{AuthProblem::kUrlExpired,
                "Request has expired",
                {{"Expires", std::string(expires)}, {"ServerTime", FormatIso8601Seconds(now)}}});
}

}  // namespace

bool IsSigV2Url(const QueryParameters& query) { return query.Has(kKeyId) && query.Has(kSignature); }

std::string SigV2StringToSign(const RequestHead& head, const QueryParameters& query) {
  std::string out =
      fmt::format("{}\n{}\n{}\n{}\n", head.method, FieldOrParameter(head, query, "content-md5"),
                  FieldOrParameter(head, query, "content-type"), query.Find(kExpires).value_or(""));
  std::map<std::string, std::string> amz;
  for (const auto& [name, value] : query.all()) {
    if (IsAmz(name)) amz[ToLower(name)] = value;
  }
  for (const auto& field : head.headers.fields()) {
    if (IsAmz(field.first)) amz[ToLower(field.first)] = head.headers.Get(field.first);
  }
  for (const auto& [name, value] : amz) out += fmt::format("{}:{}\n", name, value);
  out += head.raw_path;
  char separator = '?';
  for (const std::string_view name : kResources) {
    const auto value = query.Find(name);
    if (!value) continue;
    out.push_back(separator);
    out += name;
    if (!value->empty()) out.append("=").append(*value);
    separator = '&';
  }
  return out;
}

AuthResult<Principal> VerifySigV2Url(const RequestHead& head, const QueryParameters& query,
                                     const CredentialAuthority& authority, WallTime now) {
  for (const auto& parameter : query.all()) {
    if (IsCovered(parameter.first)) continue;
    return NotAuthentic(AuthProblem::kUrlMalformed,
                        "Signature version 2 does not cover the parameter {}: use version 4",
                        parameter.first);
  }
  const std::string key_id(query.Find(kKeyId).value_or(""));
  auto known = authority.Find(key_id, FieldOrParameter(head, query, kToken), now);
  if (!known) return tl::unexpected<AuthError>(std::move(known).error());
  if (auto timely = CheckExpiry(query.Find(kExpires).value_or(""), now); !timely) {
    return tl::unexpected<AuthError>(std::move(timely).error());
  }
  const std::string to_sign = SigV2StringToSign(head, query);
  if (!EqualInConstantTime(HmacSha1Base64(known->secret, to_sign),
                           query.Find(kSignature).value_or(""))) {
    return tl::unexpected<AuthError>(AuthError{
        AuthProblem::kMismatch, "", {{"AWSAccessKeyId", key_id}, {"StringToSign", to_sign}}});
  }
  return std::move(known->principal);
}

}  // namespace sabia::wire
