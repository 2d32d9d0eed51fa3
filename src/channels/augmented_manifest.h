// A line of an augmented manifest: a JSON object, of which a channel streams some attributes.
//
// An attribute whose name ends in "-ref" holds the S3 URI of an object; its bytes are streamed. Of
// any other attribute the value is: a text as it reads, everything else as it stands in the line.
//
// Pure. Errors: kInvalidArgument says what is wrong with the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::channels {

inline constexpr std::string_view kReferenceSuffix = "-ref";

struct AttributeValue {
  std::string text;  // an S3 URI, of a reference
  bool reference = false;
};

// One value per name, in the order of the names.
Result<std::vector<AttributeValue>> PickAttributes(std::string_view line,
                                                   const std::vector<std::string>& names);

}  // namespace sabia::channels
