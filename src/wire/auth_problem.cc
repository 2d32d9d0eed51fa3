#include "wire/auth_problem.h"

namespace sabia::wire {
namespace {

struct Wording {
  const char* s3_code;
  unsigned s3_status;
  const char* json_code;
  unsigned json_status;
  const char* query_code;
  unsigned query_status;
  const char* s3_message;
  const char* message;  // of the JSON and query families
};

constexpr const char* kBadToken = "The security token included in the request is invalid.";
constexpr const char* kBadSignature =
    "The request signature we calculated does not match the signature you provided. Check your AWS "
    "Secret Access Key and signing method. Consult the service documentation for details.";

// Total on purpose: a new problem does not compile before it has a name in every family.
Wording WordingOf(AuthProblem problem) {
  switch (problem) {
    case AuthProblem::kMissing:
      return {"AccessDenied",
              403,
              "MissingAuthenticationTokenException",
              403,
              "MissingAuthenticationToken",
              403,
              "Access Denied",
              "Missing Authentication Token"};
    case AuthProblem::kIncomplete:
      return {"AuthorizationHeaderMalformed",
              400,
              "IncompleteSignatureException",
              400,
              "IncompleteSignature",
              400,
              "The authorization header is malformed",
              "The authorization header is malformed"};
    case AuthProblem::kUnsupported:
      return {"InvalidRequest",
              400,
              "IncompleteSignatureException",
              400,
              "IncompleteSignature",
              400,
              "The authorization mechanism you have provided is not supported. Please use "
              "AWS4-HMAC-SHA256.",
              "Unsupported AWS 'algorithm': only AWS4-HMAC-SHA256 is supported."};
    case AuthProblem::kUnknownKey:
      return {"InvalidAccessKeyId",
              403,
              "UnrecognizedClientException",
              400,
              "InvalidClientTokenId",
              403,
              "The AWS Access Key Id you provided does not exist in our records.",
              kBadToken};
    case AuthProblem::kInvalidToken:
      return {"InvalidToken",
              400,
              "UnrecognizedClientException",
              400,
              "InvalidClientTokenId",
              403,
              "The provided token is malformed or otherwise invalid.",
              kBadToken};
    case AuthProblem::kExpiredToken:
      return {"ExpiredToken",
              403,
              "ExpiredTokenException",
              400,
              "ExpiredToken",
              403,
              "The provided token has expired.",
              "The security token included in the request is expired"};
    case AuthProblem::kMismatch:
    case AuthProblem::kWrongScope:
      return {"SignatureDoesNotMatch",
              403,
              "InvalidSignatureException",
              400,
              "SignatureDoesNotMatch",
              403,
              "The request signature we calculated does not match the signature you provided. "
              "Check your key and signing method.",
              kBadSignature};
    case AuthProblem::kUnsignedFields:
      return {"AccessDenied",
              403,
              "InvalidSignatureException",
              400,
              "SignatureDoesNotMatch",
              403,
              "There were headers present in the request which were not signed",
              "There were headers present in the request which were not signed"};
    case AuthProblem::kTooOld:
    case AuthProblem::kTooNew:
      return {"RequestTimeTooSkewed",
              403,
              "InvalidSignatureException",
              400,
              "SignatureDoesNotMatch",
              403,
              "The difference between the request time and the current time is too large.",
              "Signature expired"};
    case AuthProblem::kUrlExpired:
      return {"AccessDenied",          403, "InvalidSignatureException", 400,
              "SignatureDoesNotMatch", 403, "Request has expired",       "Signature expired"};
    case AuthProblem::kUrlNotYetValid:
      return {
          "AccessDenied",          403, "InvalidSignatureException", 400,
          "SignatureDoesNotMatch", 403, "Request is not valid yet",  "Signature not yet current"};
    case AuthProblem::kUrlMalformed:
      return {"AuthorizationQueryParametersError",
              400,
              "IncompleteSignatureException",
              400,
              "IncompleteSignature",
              400,
              "The query-string authentication parameters are malformed",
              "The query-string authentication parameters are malformed"};
    case AuthProblem::kMissingContentHash:
      return {"InvalidRequest",
              400,
              "InvalidSignatureException",
              400,
              "SignatureDoesNotMatch",
              403,
              "Missing required header for this request: x-amz-content-sha256",
              kBadSignature};
  }
  return {};
}

// S3 has one sentence for a wrong clock; its details say which way.
bool S3KeepsItsSentence(AuthProblem problem) {
  return problem == AuthProblem::kTooOld || problem == AuthProblem::kTooNew ||
         problem == AuthProblem::kUrlExpired || problem == AuthProblem::kUrlNotYetValid;
}

}  // namespace

AwsError ToAwsError(const AuthError& error, ErrorFamily family) {
  const Wording wording = WordingOf(error.problem);
  switch (family) {
    case ErrorFamily::kS3: {
      const bool usual = error.message.empty() || S3KeepsItsSentence(error.problem);
      return {wording.s3_code, wording.s3_status, usual ? wording.s3_message : error.message,
              error.details};
    }
    case ErrorFamily::kJson:
      return {wording.json_code,
              wording.json_status,
              error.message.empty() ? wording.message : error.message,
              {}};
    case ErrorFamily::kQuery:
      return {wording.query_code,
              wording.query_status,
              error.message.empty() ? wording.message : error.message,
              {}};
  }
  return {};
}

}  // namespace sabia::wire
