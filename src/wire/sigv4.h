// Signature version 4: what a request claims, the string it signs, and the key that signs it.
//
// Pure: the verifier (sigv4_verifier.h) adds clock and secrets, the client (request_signer.h) makes
// signatures with the same canonical form. Thread-compatible.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "wire/auth_problem.h"
#include "wire/http.h"
#include "wire/sha256.h"

namespace sabia::wire {

inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

struct SigV4Scope {
  std::string date;  // "20240102"
  std::string region;
  std::string service;
  std::string ToString() const;  // "20240102/us-west-2/s3/aws4_request"
};

// What a request says of its own signature; nothing of it is verified.
struct SignatureClaim {
  std::string access_key_id;
  SigV4Scope scope;
  std::vector<std::string> signed_fields;  // lower case
  std::string signature;                   // 64 hex digits
  std::string amz_date;                    // "20240102T030405Z"
  WallTime time;
  std::string session_token;         // "" for long-lived keys
  bool presigned = false;            // in the query, not in the Authorization field
  std::int64_t expires_seconds = 0;  // presigned: 1 to 604800
};

// nullopt: the request is not signed at all. query: the decoded parameters of head.raw_query.
AuthResult<std::optional<SignatureClaim>> ParseClaim(const RequestHead& head,
                                                     const QueryParameters& query);

struct CanonicalInput {
  std::string_view method;
  std::string_view raw_path;
  std::string_view raw_query;
  const Headers& headers;
};

// The canonical request. payload_hash is its last line. S3 paths are encoded once and not
// normalised, those of other services twice and normalised.
std::string CanonicalRequest(const CanonicalInput& input, const SignatureClaim& claim,
                             std::string_view payload_hash);
std::string StringToSign(std::string_view amz_date, const std::string& scope,
                         std::string_view canonical_request);
Digest256 SigningKey(std::string_view secret, const SigV4Scope& scope);

// Parts of CanonicalRequest, for tests and the signer.
std::string CanonicalPath(std::string_view raw_path, bool is_s3);
std::string CanonicalQuery(std::string_view raw_query);

}  // namespace sabia::wire
