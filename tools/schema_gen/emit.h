// C++ text of the generated files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model.h"

namespace sabia::schema_gen {

std::string EmitHeader(const Service& service);
std::string EmitSource(const Service& service);

// service name → path of its distilled schema.
using SchemaPaths = std::vector<std::pair<std::string, std::string>>;
std::string EmitEmbeddedHeader(const SchemaPaths& schemas);
std::string EmitEmbeddedSource(const SchemaPaths& schemas);

}  // namespace sabia::schema_gen
