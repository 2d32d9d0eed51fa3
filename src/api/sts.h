// STS: who am I, and temporary credentials.
//
// Credentials are minted statelessly (wire/credentials.h). There are no policies here: every role
// may be assumed and a session may do what the root user may; session policies, tags and MFA are
// refused by name.
//
// Threading: thread-safe.
#pragma once

#include "env/random.h"
#include "wire/action.h"
#include "wire/credentials.h"

namespace sabia::api {

// Handlers keep references to both.
void RegisterSts(wire::ActionTable& table, const wire::CredentialAuthority& authority,
                 env::Random& random);

}  // namespace sabia::api
