#include "s3/call.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/encoding.h"
#include "base/log.h"
#include "wire/s3_error.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kNullVersion = "null";

wire::AwsError Make(std::string_view code, unsigned status, std::string_view message) {
  return {std::string(code), status, std::string(message), {}};
}

wire::AwsError NotFound(std::string_view message, const S3Target& target) {
  if (message.starts_with("bucket")) {
    wire::AwsError error = Make("NoSuchBucket", 404, "The specified bucket does not exist");
    error.details.emplace_back("BucketName", target.bucket);
    return error;
  }
  if (message.starts_with("upload")) {
    return Make("NoSuchUpload", 404,
                "The specified upload does not exist. The upload ID may be invalid, or the upload "
                "may have been aborted or completed.");
  }
  if (message.starts_with("version")) {
    wire::AwsError error = Make("NoSuchVersion", 404, "The specified version does not exist.");
    error.details.emplace_back("Key", target.key);
    return error;
  }
  wire::AwsError error = Make("NoSuchKey", 404, "The specified key does not exist.");
  error.details.emplace_back("Key", target.key);
  return error;
}

wire::AwsError Invalid(std::string_view message) {
  if (message.starts_with("InvalidPartOrder")) {
    return Make("InvalidPartOrder", 400,
                "The list of parts was not in ascending order. Parts must be ordered by part "
                "number.");
  }
  if (message.starts_with("InvalidPart")) {
    wire::AwsError error = Make("InvalidPart", 400,
                                "One or more of the specified parts could not be found. The part "
                                "may not have been uploaded, or the specified entity tag may not "
                                "match the part's entity tag.");
    error.details.emplace_back("Reason", message);
    return error;
  }
  if (message.starts_with("EntityTooSmall")) {
    return Make("EntityTooSmall", 400,
                "Your proposed upload is smaller than the minimum allowed size");
  }
  if (message.starts_with("EntityTooLarge")) {
    return Make("EntityTooLarge", 400, "Your proposed upload exceeds the maximum allowed size");
  }
  if (message.starts_with("BadDigest")) {
    return Make("BadDigest", 400,
                "The checksum you specified did not match the calculated checksum.");
  }
  if (message.starts_with("BadSize")) {
    return Make("InvalidRequest", 400,
                "The provided 'x-amz-mp-object-size' header does not match what was computed.");
  }
  if (message.starts_with("key has") && message.find("key has 0") == std::string_view::npos) {
    return Make("KeyTooLongError", 400, "Your key is too long");
  }
  return Make("InvalidArgument", 400, message);
}

// These are about the signature of the URL, and were judged before.
bool IsHoisted(std::string_view name) {
  const std::string lower = ToLower(name);
  constexpr std::array<std::string_view, 7> kSigning = {
      "x-amz-algorithm", "x-amz-credential",    "x-amz-date",          "x-amz-expires",
      "x-amz-signature", "x-amz-signedheaders", "x-amz-security-token"};
  return lower.starts_with("x-amz-") &&
         std::find(kSigning.begin(), kSigning.end(), lower) == kSigning.end();
}

}  // namespace

std::optional<wire::Headers> HoistedHeaders(const wire::Headers& headers,
                                            const wire::QueryParameters& query) {
  std::optional<wire::Headers> out;
  for (const auto& [name, value] : query.all()) {
    if (!IsHoisted(name) || headers.Has(name)) continue;
    if (!out) out = headers;
    out->Add(name, value);
  }
  return out;
}

wire::AwsError ToS3Error(const Error& error, const S3Target& target) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return NotFound(error.message, target);
    case ErrorCode::kInvalidArgument:
      return Invalid(error.message);
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
      return Make("PreconditionFailed", 412,
                  "At least one of the pre-conditions you specified did not hold");
    case ErrorCode::kDenied:
      return Make("AccessDenied", 403, "Access Denied");
    case ErrorCode::kResourceExhausted:
      // 507 and not 503: a full disk is not worth a client's retries.
      return Make("InsufficientStorage", 507, error.message);
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
      return Make("RequestTimeout", 400,
                  "Your socket connection to the server was not read from or written to within the "
                  "timeout period.");
    case ErrorCode::kUnimplemented:
      return Make("NotImplemented", 501, error.message);
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      break;
  }
  return Make("InternalError", 500,
              fmt::format("We encountered an internal error: {}", error.message));
}

tl::unexpected<wire::AwsError> RefuseKey(wire::AwsError error, std::string_view key) {
  error.details.emplace_back("Key", key);
  return tl::unexpected<wire::AwsError>(std::move(error));
}

void AddCommon(const S3Call& call, wire::Headers& headers) {
  headers.Add("x-amz-request-id", call.context.request_id);
  headers.Add("x-amz-id-2", call.context.request_id);
  for (const auto& [name, value] : call.common.fields()) headers.Add(name, value);
}

CallTrace::CallTrace(const S3Call& call)
    : target(call.target),
      method(call.exchange.head().method),
      raw_path(call.exchange.head().raw_path),
      request_id(call.context.request_id),
      versioned(call.versioned()),
      rules(call.rules) {
  AddCommon(call, common);
}

wire::Response ErrorAnswer(const wire::AwsError& error, const CallTrace& trace) {
  if (error.status >= 500 && error.status != 501) {
    LogError("S3 {} {} failed: {}", trace.method, trace.raw_path, error.message);
  }
  wire::Response response = wire::S3ErrorResponse(error, trace.raw_path, trace.request_id);
  for (const auto& [name, value] : trace.common.fields()) {
    if (!response.headers.Has(name)) response.headers.Add(name, value);
  }
  return response;
}

S3Result RequireBucket(const S3Call& call) {
  if (call.bucket) return {};
  return tl::unexpected<wire::AwsError>(NotFound("bucket", call.target));
}

wire::AwsResult<VersionChoice> ParseVersion(std::string_view text) {
  constexpr std::size_t kIdDigits = 32;
  if (text == kNullVersion) return VersionChoice("");
  const bool is_id = text.size() == kIdDigits &&
                     text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (is_id) return VersionChoice(text);
  auto refusal = wire::Refuse(
      "InvalidArgument", 400, "{}",
      text.empty() ? "Version id cannot be the empty string" : "Invalid version id specified");
  refusal.value().details = {{"ArgumentName", "versionId"}, {"ArgumentValue", std::string(text)}};
  return refusal;
}

wire::AwsResult<VersionChoice> ReadVersion(const S3Call& call) {
  const auto text = call.query.Find("versionId");
  if (!text) return VersionChoice();
  return ParseVersion(*text);
}

std::string ShownVersion(std::string_view version_id) {
  return std::string(version_id.empty() ? kNullVersion : version_id);
}

void AddVersion(const S3Call& call, std::string_view version_id, wire::Headers& headers) {
  if (call.versioned()) headers.Add("x-amz-version-id", ShownVersion(version_id));
}

tl::unexpected<wire::AwsError> RefuseMissing(const S3Call& call, const Error& error) {
  wire::AwsError out = ToS3Error(error, call.target);
  if (out.code == "NoSuchKey" && call.versioned()) {
    const auto marker = call.store.NewestMarker(call.target.bucket, call.target.key);
    if (marker && *marker) {
      out.headers = {{"x-amz-delete-marker", "true"},
                     {"x-amz-version-id", ShownVersion((*marker)->version_id)}};
    }
  }
  return tl::unexpected<wire::AwsError>(std::move(out));
}

tl::unexpected<wire::AwsError> RefuseMarker(const S3Call& call, const ObjectInfo& marker) {
  wire::AwsError error =
      Make("MethodNotAllowed", 405, "The specified method is not allowed against this resource.");
  error.details = {{"Method", call.exchange.head().method}, {"ResourceType", "DeleteMarker"}};
  error.headers = {{"Allow", "DELETE"},
                   {"x-amz-delete-marker", "true"},
                   {"x-amz-version-id", ShownVersion(marker.version_id)},
                   {"Last-Modified", FormatRfc1123(marker.modified)}};
  return tl::unexpected<wire::AwsError>(std::move(error));
}

S3Result Answer(S3Call& call, unsigned status, wire::Headers headers) {
  wire::Response response{status, std::move(headers), {}};
  AddCommon(call, response.headers);
  (void)call.exchange.Send(response);  // a client that is gone is told nothing
  return {};
}

S3Result AnswerXml(S3Call& call, std::string document, wire::Headers headers) {
  wire::Response response{200, std::move(headers), std::move(document)};
  response.headers.Add("Content-Type", "application/xml");
  AddCommon(call, response.headers);
  (void)call.exchange.Send(response);
  return {};
}

wire::AwsResult<std::size_t> ReadCount(const S3Call& call, std::string_view name,
                                       std::size_t fallback, std::size_t max) {
  const auto text = call.query.Find(name);
  if (!text || text->empty()) return fallback;
  std::size_t out = 0;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, out);
  if (at != end || (error != std::errc() && error != std::errc::result_out_of_range)) {
    return wire::Refuse("InvalidArgument", 400,
                        "Argument {} must be an integer between 0 and 2147483647", name);
  }
  return error == std::errc::result_out_of_range ? max : std::min(out, max);
}

wire::AwsResult<int> ReadPartNumber(const S3Call& call) {
  const std::string_view text = call.Parameter("partNumber");
  int out = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  if (text.empty() || at != end || error != std::errc() || out < 1 || out > kPartNumberMax) {
    return wire::Refuse("InvalidArgument", 400,
                        "Part number must be an integer between 1 and {}, inclusive",
                        kPartNumberMax);
  }
  return out;
}

std::string NameEncoding::operator()(std::string_view name) const {
  return url ? UriEncode(name, true) : std::string(name);
}

wire::AwsResult<NameEncoding> ReadEncoding(const S3Call& call) {
  const std::string_view type = call.Parameter("encoding-type");
  if (type.empty()) return NameEncoding{};
  if (type == "url") return NameEncoding{true};
  return wire::Refuse("InvalidArgument", 400, "Invalid Encoding Method specified in Request");
}

std::string Quoted(std::string_view etag) { return fmt::format("\"{}\"", etag); }

std::string OwnerId(const wire::CallContext& context) {
  const auto hasher = NewHasher(ChecksumAlgorithm::kSha256);
  hasher->Update("canonical user of account ");
  hasher->Update(context.principal.account);
  return HexEncode(hasher->Finish());
}

void WriteOwner(XmlWriter& xml, const wire::CallContext& context, std::string_view element) {
  xml.Open(element).Element("ID", OwnerId(context));
  xml.Element("DisplayName", context.principal.account).Close();
}

}  // namespace sabia::s3
