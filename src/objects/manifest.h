// A channel's manifest: a prefix, and the names behind it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::objects {

struct Manifest {
  std::string prefix;  // "s3://bucket/data/"
  std::vector<std::string> suffixes;
};

// kInvalidArgument: it is not [{"prefix": "s3://bucket/…"}, "suffix", …] with at least one suffix
// and at most kChannelFilesMax.
Result<Manifest> ParseManifest(std::string_view text);

}  // namespace sabia::objects
