// A channel's rows, whatever its format.
//
// Blocking: reads every file of the channel (or the FIFO <channel>_0 in Pipe mode). Errors:
// kInvalidArgument with the image's texts; kIo when a file cannot be read.
#pragma once

#include <filesystem>
#include <string_view>

#include "algorithms/channel_config.h"
#include "algorithms/data_table.h"
#include "algorithms/job_log.h"
#include "base/result.h"

namespace sabia::algorithms {

struct LoadOptions {
  DataFormat format = DataFormat::kLibsvm;
  bool pipe = false;
  bool csv_weights = false;
  int threads = 1;
};

// `data` is …/input/data. An empty channel is a table without rows.
Result<DataTable> LoadChannel(const std::filesystem::path& data, std::string_view channel,
                              const LoadOptions& options, JobLog& log);

// Rows without labels: csv, or libsvm lines that start with a feature.
Result<DataTable> ReadRowsToPredict(std::string_view text, DataFormat format, int threads);

}  // namespace sabia::algorithms
