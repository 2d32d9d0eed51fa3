// Signs requests that we send: SigV4 in the Authorization field, or in the query of a presigned
// URL.
//
// Pure; thread-compatible.
#pragma once

#include <string>

#include "base/time.h"
#include "wire/http.h"

namespace sabia::wire {

struct SigningIdentity {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // "" for long-lived keys
  std::string region;
  std::string service;  // "s3", "sagemaker", "sabia"
};

struct OutgoingRequest {
  std::string method = "GET";
  std::string path = "/";    // percent-encoded, as it goes on the wire
  std::string query;         // percent-encoded, without "?"
  Headers headers;           // with Host; all of them are signed
  std::string payload_hash;  // hex SHA-256 of the body, or "UNSIGNED-PAYLOAD" (S3)
};

// Adds X-Amz-Date, X-Amz-Security-Token, x-amz-content-sha256 (S3) and Authorization.
void SignRequest(OutgoingRequest& request, const SigningIdentity& identity, WallTime now);

// Returns the query, signature included, that authorizes the request for so long; its Host field
// must be set.
std::string PresignQuery(const OutgoingRequest& request, const SigningIdentity& identity,
                         WallTime now, Seconds expires);

}  // namespace sabia::wire
