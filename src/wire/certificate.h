// X.509 certificates on P-256 keys, as far as a local authority needs them: OpenSSL behind a few
// values.
//
// Thread-compatible. Errors: kInvalidArgument: not PEM of the expected kind; kInternal: OpenSSL
// failed.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/random.h"

namespace sabia::wire {

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct CertificateDeleter {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, KeyDeleter>;
using CertificatePtr = std::unique_ptr<X509, CertificateDeleter>;

struct KeyPair {
  KeyPtr key;
  CertificatePtr certificate;
};

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> names;  // host names and IP addresses; empty for an authority
  WallTime from;
  WallTime until;
};

// issuer: nullptr for an authority, which signs itself.
Result<KeyPair> IssueCertificate(const CertificateRequest& request, const KeyPair* issuer,
                                 env::Random& random);

std::string ToPem(const X509& certificate);
std::string ToPem(const EVP_PKEY& key);
// Fails when the two do not belong together.
Result<KeyPair> ParseKeyPair(const std::string& certificate_pem, const std::string& key_pem);

WallTime ExpiryOf(const X509& certificate);
bool IsIssuedBy(const X509& certificate, const KeyPair& issuer);
bool HasNames(const X509& certificate, const std::vector<std::string>& names);

}  // namespace sabia::wire
