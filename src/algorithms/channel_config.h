// inputdataconfig.json as the image checks it: `train` is required, `validation` optional, `code`
// ignored.
//
// Pure; any thread. Errors: kInvalidArgument with the image's texts.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace sabia::algorithms {

enum class DataFormat { kCsv, kLibsvm, kRecordIo };

struct ChannelConfig {
  DataFormat format = DataFormat::kLibsvm;  // of both channels: that of `train` governs
  bool pipe = false;                        // read <channel>_0 instead of the directory <channel>
  bool validation = false;
};

Result<ChannelConfig> ReadChannelConfig(const json::object& document);

// "text/csv; label_size=1" and its like; upper case is fine, "" is libsvm. Parquet is refused by
// name.
Result<DataFormat> ParseContentType(std::string_view content_type);

}  // namespace sabia::algorithms
