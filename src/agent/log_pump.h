// Carries a program's output into its log stream, line by line, and picks metrics out of it.
//
// A thread of its own, which begins with the program's first output, reads the pipe as fast as the
// disk takes it; memory stays below a few line lengths whatever the program writes. An unfinished
// line is handed out after a second, so that progress is visible.
//
// Threading: Start, Hear, Finish and the getters on one thread. The writer and the files belong to
// the pump until Finish.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/line_splitter.h"
#include "agent/metric_matcher.h"
#include "env/clock.h"
#include "env/posix/posix_files.h"
#include "model/instance.h"
#include "store/log_store.h"

namespace sabia::agent {

struct LogPumpOptions {
  std::vector<model::MetricDefinition> metrics;
  env::Path metrics_log;  // JSON lines {"name","value","time"}, appended
  std::uint64_t metrics_log_max = 64 << 20;
};

class LogPump {
 public:
  LogPump(env::Clock& clock, std::unique_ptr<store::LogWriter> writer, LogPumpOptions options);
  ~LogPump();

  // Compiles the regexes and opens the files: before the program starts. kInvalidArgument: a regex
  // is bad.
  Status Prepare();
  // REQUIRES: Prepare succeeded.
  void Start(env::UniqueFd output);
  // What to poll for (POLLIN), and what to do with the events that came. -1: nothing any more.
  int unheard() const { return thread_.joinable() ? -1 : output_.get(); }
  void Hear(short events);
  // After the program's end: takes what is still in the pipe, flushes, joins. Repeating it is
  // harmless.
  void Finish();
  // A line of the agent's own into the stream. Before Start or after Finish.
  void Say(std::string_view line);

  // Snapshots for the report.
  std::vector<std::string> LastLines() const;
  std::vector<model::FinalMetric> Metrics() const;
  // The text of the last Python exception ("ValueError: …"), or the last line; at most 1 KiB.
  std::string LastError() const;
  std::vector<std::string> notes() const;
  // Counts new metric values: the daemon is poked when it changed.
  std::uint64_t metric_count() const { return metric_count_.load(); }

 private:
  void Run();
  void ReadLoop();
  void TakeLine(std::string_view piece, bool complete, std::string_view whole);
  void TakeMetrics(std::string_view line, WallTime now);
  void Remember(std::string_view line);
  void FlushFiles();

  env::Clock& clock_;
  const std::unique_ptr<store::LogWriter> writer_;
  const LogPumpOptions options_;
  std::unique_ptr<MetricMatcher> matcher_;
  LineSplitter splitter_;
  env::UniqueFd output_;
  env::UniqueFd stop_;  // eventfd
  env::UniqueFd metrics_fd_;
  std::uint64_t metrics_bytes_ = 0;
  std::string metrics_buffer_;
  std::thread thread_;
  std::atomic<std::uint64_t> metric_count_{0};

  mutable std::mutex mutex_;  // of what the getters read
  std::deque<std::string> tail_;
  std::vector<model::FinalMetric> last_values_;
  std::vector<std::string> notes_;
  bool log_failed_ = false;
};

}  // namespace sabia::agent
