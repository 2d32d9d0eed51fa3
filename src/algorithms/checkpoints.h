// Checkpoints in the directory that CheckpointConfig.LocalPath names: "xgboost-checkpoint.<round>",
// one per round.
//
// A file appears under its name only when it is complete (temporary name "….sagemaker-ignore", then
// rename) and ends in a trailer with its length and CRC, so that a copy that was cut or damaged on
// its way through S3 is told from a whole one before the library sees it (which may crash on such
// bytes). XGBoost itself ignores the trailer: Booster.load_model reads these files. The newest five
// are kept; an older one goes unless its upload is under way
// ("….sagemaker-uploading" without "….sagemaker-uploaded").
//
// Blocking; thread-compatible. Errors: kIo and kResourceExhausted (disk full) from writing.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/job_log.h"
#include "base/result.h"

namespace sabia::algorithms {

class Checkpoints {
 public:
  static constexpr int kKept = 5;

  Checkpoints(std::filesystem::path directory, JobLog& log)
      : directory_(std::move(directory)), log_(log) {}

  // Makes the directory, removes what an interrupted write left.
  Status Open();
  // Rounds with a file, newest first.
  std::vector<int> Rounds() const;
  // The model of a round without its trailer; kCorrupt when the file is not whole.
  Result<std::string> Read(int round) const;
  Status Write(int round, std::string_view model);
  // Removes all but the newest kKept. `wait` leaves those that are being uploaded for the next
  // call.
  void Prune(bool wait);

  std::filesystem::path PathOf(int round) const;

 private:
  std::filesystem::path directory_;
  JobLog& log_;
  std::set<int> present_;  // rounds with a file, as Open found and Write left them
};

// Model bytes with their trailer, and back. Pure.
std::string SealCheckpoint(std::string_view model);
Result<std::string> UnsealCheckpoint(std::string_view sealed);

}  // namespace sabia::algorithms
