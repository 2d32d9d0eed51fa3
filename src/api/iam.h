// IAM, as far as the SDKs look: roles exist by being named, and every simulated action is allowed.
//
// There is no policy engine. Whoever holds a key of this installation may do everything, so
// "allowed" is the truth. A role of any name exists in the account; SageMaker may assume it.
// Everything else of IAM is unimplemented by name.
//
// Threading: thread-safe, stateless.
#pragma once

#include "wire/action.h"

namespace sabia::api {

void RegisterIam(wire::ActionTable& table);

}  // namespace sabia::api
