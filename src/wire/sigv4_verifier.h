// Decides whether a claimed signature is genuine.
//
// The answer costs two hashes: signing keys are remembered per secret, day, region and service, in
// a table of bounded size. Thread-safe.
#pragma once

#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "env/clock.h"
#include "wire/credentials.h"
#include "wire/sigv4.h"

namespace sabia::wire {

// A genuine signature, and what verifying the chunks of its body needs.
struct VerifiedSignature {
  Principal principal;
  Digest256 signing_key;
};

class SigV4Verifier {
 public:
  SigV4Verifier(const CredentialAuthority& authority, env::Clock& clock)
      : authority_(authority), clock_(clock) {}

  // payload_hash: the last line of the canonical request, which the caller compares with the body
  // itself.
  AuthResult<VerifiedSignature> Verify(const RequestHead& head, const SignatureClaim& claim,
                                       std::string_view payload_hash);

 private:
  AuthResult<void> CheckTime(const SignatureClaim& claim) const;
  Digest256 KeyFor(const std::string& secret, const SigV4Scope& scope);

  const CredentialAuthority& authority_;
  env::Clock& clock_;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, Digest256> keys_;
};

}  // namespace sabia::wire
