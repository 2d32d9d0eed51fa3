// Plain comma-separated values: no quotes, no escapes, one record a line. What our own data files
// are made of.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia {

// Calls `record` with the fields of each line below the first, which must equal `header`. Empty
// lines are skipped. kCorrupt names the line that has another number of fields, or that `record`
// refuses.
Status ReadCsv(std::string_view text, std::string_view header,
               const std::function<Status(const std::vector<std::string_view>&)>& record);

}  // namespace sabia
