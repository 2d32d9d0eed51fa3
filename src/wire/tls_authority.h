// A local certificate authority, so that clients which insist on https reach us (the SageMaker SDK
// asks STS at an address of its own).
//
//   <directory>/ca.pem, ca.key       the authority: EC P-256, ten years; the key is 0600 and never
//   leaves the machine <directory>/server.pem, server.key   the server's certificate, one year,
//   renewed by EnsureTlsFiles <directory>/bundle.pem           the system's authorities and ours:
//   what AWS_CA_BUNDLE points at
//
// Crash safety: each file is replaced atomically, keys before certificates; a pair that does not
// match is made anew. Nothing is added to the system's or the user's own trust.
#pragma once

#include <string>
#include <vector>

#include "env/clock.h"
#include "env/files.h"
#include "env/random.h"
#include "wire/tls.h"

namespace sabia::wire {

struct TlsAuthorityOptions {
  env::Path directory;
  std::string region = "us-west-2";
  std::vector<std::string> more_names;  // further host names or IP addresses of this server
  env::Path system_bundle =
      "/etc/ssl/certs/ca-certificates.crt";  // missing: bundle.pem holds only ours
};

struct TlsFiles {
  TlsIdentity server;
  env::Path authority;  // ca.pem
  env::Path bundle;
};

class TlsAuthority {
 public:
  TlsAuthority(env::Files& files, env::Clock& clock, env::Random& random)
      : files_(files), clock_(clock), random_(random) {}

  // Makes what is missing, damaged, of other names or near its end, and keeps the rest.
  Result<TlsFiles> Ensure(const TlsAuthorityOptions& options);

 private:
  env::Files& files_;
  env::Clock& clock_;
  env::Random& random_;
};

}  // namespace sabia::wire
