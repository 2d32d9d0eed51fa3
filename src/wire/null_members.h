// A JSON null is an absent member (docs/semantics/validation.md): handlers never see one.
//
// Pure; any thread.
#pragma once

#include "base/json.h"

namespace sabia::wire {

// At every depth. REQUIRES: validated, so that lists and maps hold no nulls.
void DropNullMembers(json::object& input);

}  // namespace sabia::wire
