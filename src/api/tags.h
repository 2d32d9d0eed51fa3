// AddTags, ListTags and DeleteTags: tags belong to the ARN of an existing resource.
//
// Threading: thread-safe. Errors: ValidationException (an ARN of another region or account, an
// unknown resource, a reserved or repeated key), ResourceLimitExceeded beyond 50 tags.
#pragma once

#include "store/resources.h"
#include "wire/action.h"

namespace sabia::api {

// Handlers keep a reference to resources.
void RegisterTags(wire::ActionTable& table, store::Resources& resources);

}  // namespace sabia::api
