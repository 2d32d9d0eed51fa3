#include "wire/sigv4.h"

#include <algorithm>
#include <cctype>

#include "base/encoding.h"

namespace sabia::wire {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kTerminator = "aws4_request";
constexpr std::size_t kSignedFieldsMax = 128;
constexpr std::int64_t kPresignedMax = 604'800;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "AKID/20240102/us-west-2/s3/aws4_request"; the id may hold slashes of its own in principle, so
// from the right.
bool ParseCredential(std::string_view text, SignatureClaim& claim) {
  std::string_view parts[4];
  for (int i = 3; i >= 0; --i) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) return false;
    parts[i] = text.substr(slash + 1);
    text = text.substr(0, slash);
  }
  if (text.empty() || parts[3] != kTerminator) return false;
  if (parts[0].size() != 8 || parts[1].empty() || parts[2].empty()) return false;
  claim.access_key_id = text;
  claim.scope = {std::string(parts[0]), std::string(parts[1]), std::string(parts[2])};
  return true;
}

bool ParseSignedFields(std::string_view text, std::vector<std::string>& fields) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    if (end == 0 || fields.size() == kSignedFieldsMax) return false;
    fields.push_back(ToLower(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::is_sorted(fields.begin(), fields.end()) &&
         std::find(fields.begin(), fields.end(), "host") != fields.end();
}

AuthResult<void> ParseTime(const RequestHead& head, std::string_view amz_date,
                           SignatureClaim& claim) {
  Result<WallTime> time = Fail(ErrorCode::kInvalidArgument, "no date");
  if (!amz_date.empty()) {
    time = ParseBasicIso8601(amz_date);
  } else if (const auto date = head.headers.Find("Date")) {
    time = ParseRfc1123(*date);
    if (!time) time = ParseBasicIso8601(*date);
  }
  if (!time) {
    return NotAuthentic(AuthProblem::kIncomplete,
                        "Authorization header requires existence of either a 'X-Amz-Date' or a "
                        "'Date' header.");
  }
  claim.time = *time;
  claim.amz_date = FormatBasicIso8601(*time);
  if (claim.amz_date.substr(0, 8) != claim.scope.date) {
    return NotAuthentic(AuthProblem::kWrongScope,
                        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of "
                        "date from HTTP: '{}' != '{}', from '{}'.",
                        claim.scope.date, claim.amz_date.substr(0, 8), claim.amz_date);
  }
  return {};
}

AuthResult<void> ParseAuthorization(std::string_view text, SignatureClaim& claim) {
  bool has_credential = false;
  bool has_fields = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    if (name == "Credential") has_credential = ParseCredential(value, claim);
    if (name == "SignedHeaders") has_fields = ParseSignedFields(value, claim.signed_fields);
    if (name == "Signature") claim.signature = value;
  }
  const char* missing = !has_credential                ? "Credential"
                        : !has_fields                  ? "SignedHeaders"
                        : claim.signature.size() != 64 ? "Signature"
                                                       : nullptr;
  if (missing == nullptr) return {};
  return NotAuthentic(AuthProblem::kIncomplete,
                      "Authorization header requires a valid '{}' parameter.", missing);
}

AuthResult<std::optional<SignatureClaim>> ParseHeaderClaim(const RequestHead& head,
                                                           std::string_view text) {
  SignatureClaim claim;
  if (!text.starts_with(kAlgorithm)) return NotAuthentic(AuthProblem::kUnsupported);
  auto parsed = ParseAuthorization(text.substr(kAlgorithm.size()), claim);
  if (parsed) parsed = ParseTime(head, head.headers.Get("X-Amz-Date"), claim);
  if (!parsed) return tl::make_unexpected(std::move(parsed).error());
  claim.session_token = head.headers.Get("X-Amz-Security-Token");
  return claim;
}

AuthResult<std::optional<SignatureClaim>> ParseQueryClaim(const RequestHead& head,
                                                          const QueryParameters& query) {
  const auto malformed = [](std::string_view what) {
    return NotAuthentic(AuthProblem::kUrlMalformed, "{}", what);
  };
  SignatureClaim claim;
  claim.presigned = true;
  if (query.Find("X-Amz-Algorithm") != kAlgorithm) {
    return malformed("X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256\"");
  }
  const auto amz_date = query.Find("X-Amz-Date").value_or("");
  if (!ParseCredential(query.Find("X-Amz-Credential").value_or(""), claim)) {
    return malformed(
        "Error parsing the X-Amz-Credential parameter; the Credential is mal-formed; expecting "
        "\"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".");
  }
  if (amz_date.empty() || !ParseBasicIso8601(amz_date)) {
    return malformed("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  }
  if (auto dated = ParseTime(head, amz_date, claim); !dated) {
    return tl::make_unexpected(std::move(dated).error());
  }
  const std::string expires(query.Find("X-Amz-Expires").value_or(""));
  const bool digits =
      !expires.empty() && expires.size() < 10 &&
      std::all_of(expires.begin(), expires.end(), [](unsigned char c) { return std::isdigit(c); });
  if (!digits) return malformed("X-Amz-Expires should be a number");
  claim.expires_seconds = std::stoll(expires);
  if (claim.expires_seconds < 1 || claim.expires_seconds > kPresignedMax) {
    return malformed("X-Amz-Expires must be between 1 and 604800 seconds");
  }
  claim.signature = query.Find("X-Amz-Signature").value_or("");
  if (!ParseSignedFields(query.Find("X-Amz-SignedHeaders").value_or(""), claim.signed_fields) ||
      claim.signature.size() != 64) {
    return malformed(
        "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, "
        "X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.");
  }
  claim.session_token = query.Find("X-Amz-Security-Token").value_or("");
  return claim;
}

bool IsPlain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Decodes and encodes again, so that both sides agree however the client wrote it on the wire.
// Malformed escapes stay.
std::string Recode(std::string_view text, bool plus_is_space) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) return std::string(text);
  const auto decoded = UriDecode(text, plus_is_space);
  return UriEncode(decoded ? std::string_view(*decoded) : text);
}

// Without "." and ".." segments and doubled slashes.
std::string NormalizePath(std::string_view path) {
  std::vector<std::string_view> kept;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!segment.empty() && segment != ".") {
      kept.push_back(segment);
    }
  }
  std::string normal;
  for (const std::string_view segment : kept) normal.append("/").append(segment);
  if (path.ends_with('/') || normal.empty()) normal += '/';
  return normal;
}

// Runs of blanks count as one.
void AppendCollapsed(std::string& out, std::string_view value) {
  bool blank = false;
  for (const char c : Trim(value)) {
    if (c == ' ' && blank) continue;
    blank = c == ' ';
    out += c;
  }
}

void AppendFields(std::string& out, const Headers& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    out.append(name).append(":");
    bool first = true;
    for (const auto& [key, value] : headers.fields()) {
      if (key.size() != name.size() || !EqualsIgnoreCase(key, name)) continue;
      if (!first) out += ',';
      first = false;
      AppendCollapsed(out, value);
    }
    out += '\n';
  }
  out += '\n';
  for (std::size_t i = 0; i < names.size(); ++i) out.append(i == 0 ? "" : ";").append(names[i]);
  out += '\n';
}

}  // namespace

std::string SigV4Scope::ToString() const {
  return fmt::format("{}/{}/{}/{}", date, region, service, kTerminator);
}

AuthResult<std::optional<SignatureClaim>> ParseClaim(const RequestHead& head,
                                                     const QueryParameters& query) {
  if (const auto authorization = head.headers.Find("Authorization")) {
    return ParseHeaderClaim(head, *authorization);
  }
  if (query.Has("X-Amz-Algorithm") || query.Has("X-Amz-Signature"))
    return ParseQueryClaim(head, query);
  if (query.Has("AWSAccessKeyId") && query.Has("Signature")) {
    return NotAuthentic(AuthProblem::kUnsupported);  // a presigned URL of signature version 2
  }
  return std::optional<SignatureClaim>();
}

std::string CanonicalPath(std::string_view raw_path, bool is_s3) {
  if (!is_s3) return UriEncode(NormalizePath(raw_path), true);
  std::string out;
  out.reserve(raw_path.size());
  for (std::string_view rest = raw_path;;) {
    const std::size_t slash = rest.find('/');
    out.append(Recode(rest.substr(0, slash), false));
    if (slash == std::string_view::npos) return out;
    out += '/';
    rest.remove_prefix(slash + 1);
  }
}

std::string CanonicalQuery(std::string_view raw_query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!raw_query.empty()) {
    const std::size_t end = std::min(raw_query.find('&'), raw_query.size());
    const std::string_view pair = raw_query.substr(0, end);
    raw_query.remove_prefix(std::min(end + 1, raw_query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string name = Recode(pair.substr(0, equals), true);
    if (name == "X-Amz-Signature") continue;
    pairs.emplace_back(std::move(name),
                       Recode(pair.substr(std::min(equals + 1, pair.size())), true));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!out.empty()) out += '&';
    out.append(name).append("=").append(value);
  }
  return out;
}

std::string CanonicalRequest(const CanonicalInput& input, const SignatureClaim& claim,
                             std::string_view payload_hash) {
  std::string out;
  out.reserve(1024);
  out.append(input.method).append("\n");
  out.append(CanonicalPath(input.raw_path, claim.scope.service == "s3")).append("\n");
  out.append(CanonicalQuery(input.raw_query)).append("\n");
  AppendFields(out, input.headers, claim.signed_fields);
  out.append(payload_hash);
  return out;
}

std::string StringToSign(std::string_view amz_date, const std::string& scope,
                         std::string_view canonical_request) {
  return fmt::format("{}\n{}\n{}\n{}", kAlgorithm, amz_date, scope,
                     Hex(Sha256Of(canonical_request)));
}

Digest256 SigningKey(std::string_view secret, const SigV4Scope& scope) {
  const Digest256 date = HmacSha256(fmt::format("AWS4{}", secret), scope.date);
  const Digest256 region = HmacSha256(date, scope.region);
  const Digest256 service = HmacSha256(region, scope.service);
  return HmacSha256(service, kTerminator);
}

}  // namespace sabia::wire
