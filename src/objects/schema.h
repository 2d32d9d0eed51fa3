// The tables of objects.db (docs/formats/objects.md).
#pragma once

#include <string>
#include <vector>

namespace sabia::objects::index {

// For DatabaseOptions.
std::vector<std::string> Migrations();

}  // namespace sabia::objects::index
