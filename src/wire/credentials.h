// Who may sign: the root key of this installation, and temporary credentials that carry their own
// facts.
//
// The root key is made once, from kernel randomness, and kept in a file of mode 0600. Temporary
// credentials (ASIA…) are stateless: id, secret and session token are derived from the root secret
// by HMAC and the token carries account, role, session name and expiry, so that checking them needs
// the root secret and nothing else; a restart forgets none and a new root key revokes all.
#pragma once

#include <string>

#include "base/time.h"
#include "env/files.h"
#include "env/random.h"
#include "wire/action.h"
#include "wire/auth_problem.h"

namespace sabia::wire {

struct AccessKey {
  std::string id;      // 20 characters, "AKIA…"
  std::string secret;  // 40 characters
};

// kNotFound: there is none; kCorrupt: it is not what we wrote.
Result<AccessKey> ReadRootKey(env::Files& files, const env::Path& file);
// Reads the file, or makes and writes it (durable, 0600) when there is none.
Result<AccessKey> LoadOrCreateRootKey(env::Files& files, env::Random& random,
                                      const env::Path& file);

struct SessionClaims {
  std::string role_arn;      // "arn:aws:iam::<account>:role/<path/><name>"
  std::string session_name;  // 2 to 64 of [A-Za-z0-9_=,.@-]
  WallTime expires;
};

struct TemporaryCredentials {
  AccessKey key;  // "ASIA…"
  std::string session_token;
  std::string assumed_role_arn;  // "arn:aws:sts::<account>:assumed-role/<name>/<session>"
  WallTime expires;
};

// Immutable; thread-safe.
class CredentialAuthority {
 public:
  CredentialAuthority(AccessKey root, std::string account);

  const AccessKey& root() const { return root_; }
  const std::string& account() const { return account_; }
  Principal RootPrincipal() const;

  // REQUIRES: the caller has checked role and session name (ASCII, no control characters).
  TemporaryCredentials Mint(const SessionClaims& claims, env::Random& random) const;

  struct Known {
    std::string secret;
    Principal principal;
  };
  // The secret behind an access key id; session_token is "" when the request carries none.
  AuthResult<Known> Find(std::string_view access_key_id, std::string_view session_token,
                         WallTime now) const;

 private:
  AuthResult<Known> FindTemporary(std::string_view access_key_id, std::string_view session_token,
                                  WallTime now) const;

  AccessKey root_;
  std::string account_;
};

}  // namespace sabia::wire
