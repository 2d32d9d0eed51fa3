// The running daemon, as the commands call it.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"
#include "store/paths.h"
#include "wire/json_client.h"

namespace sabia::cli {

// Thread-compatible.
class Client {
 public:
  // kUnavailable when no daemon is running on this home.
  static Result<std::unique_ptr<Client>> Connect(const store::Paths& paths);

  Result<json::object> SageMaker(const std::string& action, const json::object& input);
  Result<json::object> Logs(const std::string& action, const json::object& input);
  // "/-/spot/interrupt"
  Result<json::object> Extension(const std::string& path, const json::object& input);

  env::Clock& clock() { return clock_; }

 private:
  Client() = default;

  env::PosixFiles files_;
  env::PosixClock clock_;
  std::unique_ptr<wire::JsonClient> client_;
};

// Names the job where the error does not: AWS's own words leave it out.
Error AboutJob(Error error, const std::string& job);

// Waits without doing anything; for commands that look again and again.
void Pause(Millis duration);

// "2026-01-02 03:04:05" in local time.
std::string LocalTime(WallTime time);

// Columns padded to the widest cell, two blanks between them, one line per row.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sabia::cli
