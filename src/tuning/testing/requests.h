// Requests for tests.
#pragma once

#include "base/json.h"

namespace sabia::tuning::testing {

// One definition "sabia/python:3" that minimizes "loss" over a continuous "x" in [0, 1] and an
// integer "depth" in 1..8; four trials, one at a time.
json::object SmallRequest();
// A categorical range.
json::object Category(const char* name, std::initializer_list<const char*> values);

json::object& ConfigIn(json::object& request);
json::object& DefinitionIn(json::object& request);

}  // namespace sabia::tuning::testing
