#include "wire/auth_problem.h"

#include <array>

namespace sabia::wire {
namespace {

struct Name {
  const char* code;
  unsigned status;
};
struct Wording {
  AuthProblem problem;
  Name s3;
  Name json;
  Name query;
  const char* s3_message;
  const char* message;  // of the JSON and query families
};

constexpr const char* kBadToken = "The security token included in the request is invalid.";
constexpr const char* kMalformed = "The authorization header is malformed";
constexpr const char* kMalformedQuery = "The query-string authentication parameters are malformed";
constexpr const char* kBadS3Signature =
    "The request signature we calculated does not match the signature you provided. Check your key "
    "and signing method.";
constexpr const char* kBadSignature =
    "The request signature we calculated does not match the signature you provided. Check your AWS "
    "Secret Access Key and signing method. Consult the service documentation for details.";
constexpr const char* kUnsignedFields =
    "There were headers present in the request which were not signed";
constexpr const char* kSkewed =
    "The difference between the request time and the current time is too large.";

constexpr Name kS3Mismatch{"SignatureDoesNotMatch", 403};
constexpr Name kJsonMismatch{"InvalidSignatureException", 400};
constexpr Name kJsonIncomplete{"IncompleteSignatureException", 400};
constexpr Name kQueryIncomplete{"IncompleteSignature", 400};
constexpr Name kJsonUnknown{"UnrecognizedClientException", 400};
constexpr Name kQueryUnknown{"InvalidClientTokenId", 403};

// In the order of AuthProblem.
constexpr std::array kWordings{
    Wording{AuthProblem::kMissing,
            {"AccessDenied", 403},
            {"MissingAuthenticationTokenException", 403},
            {"MissingAuthenticationToken", 403},
            "Access Denied",
            "Missing Authentication Token"},
    Wording{AuthProblem::kIncomplete,
            {"AuthorizationHeaderMalformed", 400},
            kJsonIncomplete,
            kQueryIncomplete,
            kMalformed,
            kMalformed},
    Wording{AuthProblem::kUnsupported,
            {"InvalidRequest", 400},
            kJsonIncomplete,
            kQueryIncomplete,
            "The authorization mechanism you have provided is not supported. Please use "
            "AWS4-HMAC-SHA256.",
            "Unsupported AWS 'algorithm': only AWS4-HMAC-SHA256 is supported."},
    Wording{AuthProblem::kUnknownKey,
            {"InvalidAccessKeyId", 403},
            kJsonUnknown,
            kQueryUnknown,
            "The AWS Access Key Id you provided does not exist in our records.",
            kBadToken},
    Wording{AuthProblem::kInvalidToken,
            {"InvalidToken", 400},
            kJsonUnknown,
            kQueryUnknown,
            "The provided token is malformed or otherwise invalid.",
            kBadToken},
    Wording{AuthProblem::kExpiredToken,
            {"ExpiredToken", 403},
            {"ExpiredTokenException", 400},
            {"ExpiredToken", 403},
            "The provided token has expired.",
            "The security token included in the request is expired"},
    Wording{AuthProblem::kMismatch, kS3Mismatch, kJsonMismatch, kS3Mismatch, kBadS3Signature,
            kBadSignature},
    Wording{AuthProblem::kWrongScope, kS3Mismatch, kJsonMismatch, kS3Mismatch, kBadS3Signature,
            kBadSignature},
    Wording{AuthProblem::kUnsignedFields,
            {"AccessDenied", 403},
            kJsonMismatch,
            kS3Mismatch,
            kUnsignedFields,
            kUnsignedFields},
    Wording{AuthProblem::kTooOld,
            {"RequestTimeTooSkewed", 403},
            kJsonMismatch,
            kS3Mismatch,
            kSkewed,
            "Signature expired"},
    Wording{AuthProblem::kTooNew,
            {"RequestTimeTooSkewed", 403},
            kJsonMismatch,
            kS3Mismatch,
            kSkewed,
            "Signature not yet current"},
    Wording{AuthProblem::kUrlExpired,
            {"AccessDenied", 403},
            kJsonMismatch,
            kS3Mismatch,
            "Request has expired",
            "Signature expired"},
    Wording{AuthProblem::kUrlNotYetValid,
            {"AccessDenied", 403},
            kJsonMismatch,
            kS3Mismatch,
            "Request is not valid yet",
            "Signature not yet current"},
    Wording{AuthProblem::kUrlMalformed,
            {"AuthorizationQueryParametersError", 400},
            kJsonIncomplete,
            kQueryIncomplete,
            kMalformedQuery,
            kMalformedQuery},
    Wording{AuthProblem::kMissingContentHash,
            {"InvalidRequest", 400},
            kJsonMismatch,
            kS3Mismatch,
            "Missing required header for this request: x-amz-content-sha256",
            kBadSignature},
};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kWordings.size(); ++i) {
    if (kWordings[i].problem != static_cast<AuthProblem>(i)) return false;
  }
  return true;
}
static_assert(InOrder() && kWordings.back().problem == AuthProblem::kMissingContentHash,
              "every problem has a name in every family");

// S3 has one sentence for a wrong clock; its details say which way.
bool S3KeepsItsSentence(AuthProblem problem) {
  return problem == AuthProblem::kTooOld || problem == AuthProblem::kTooNew ||
         problem == AuthProblem::kUrlExpired || problem == AuthProblem::kUrlNotYetValid;
}

}  // namespace

AwsError ToAwsError(const AuthError& error, ErrorFamily family) {
  const Wording& wording = kWordings[static_cast<std::size_t>(error.problem)];
  switch (family) {
    case ErrorFamily::kS3: {
      const bool usual = error.message.empty() || S3KeepsItsSentence(error.problem);
      return {wording.s3.code, wording.s3.status, usual ? wording.s3_message : error.message,
              error.details};
    }
    case ErrorFamily::kJson:
      return {wording.json.code,
              wording.json.status,
              error.message.empty() ? wording.message : error.message,
              {}};
    case ErrorFamily::kQuery:
      return {wording.query.code,
              wording.query.status,
              error.message.empty() ? wording.message : error.message,
              {}};
  }
  return {};
}

}  // namespace sabia::wire
