#include "agent/log_pump.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/text.h"
#include "base/check.h"
#include "base/json.h"

namespace sabia::agent {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr int kPartialAfterMs = 1'000;
constexpr std::size_t kLinesReported = 5;
constexpr std::size_t kTailLines = 40;  // enough for the end of a Python traceback
constexpr std::size_t kTailLineBytes = 512;
constexpr std::size_t kErrorBytes = 1'024;

}  // namespace

LogPump::LogPump(env::Clock& clock, std::unique_ptr<store::LogWriter> writer,
                 LogPumpOptions options)
    : clock_(clock),
      writer_(std::move(writer)),
      options_(std::move(options)),
      splitter_(store::kLogEventBytesMax,
                [this](std::string_view piece, bool complete, std::string_view whole) {
                  TakeLine(piece, complete, whole);
                }) {}

LogPump::~LogPump() { Finish(); }

Status LogPump::Prepare() {
  ASSIGN_OR_RETURN(matcher_, MetricMatcher::Create(options_.metrics));
  if (!options_.metrics.empty()) {
    ASSIGN_OR_RETURN(metrics_fd_,
                     env::OpenFile(options_.metrics_log, O_WRONLY | O_CREAT | O_APPEND, 0600));
    struct stat info {};
    if (::fstat(metrics_fd_.get(), &info) == 0)
      metrics_bytes_ = static_cast<std::uint64_t>(info.st_size);
  }
  stop_.Reset(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return FailErrno(errno, "failed to make an eventfd");
  return {};
}

void LogPump::Start(env::UniqueFd output) {
  CHECK(stop_);
  output_ = std::move(output);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

void LogPump::Hear(short events) {
  if ((events & ~POLLIN) != 0) return Finish();  // nobody writes any more: what is left is little
  if ((events & POLLIN) != 0) thread_ = std::thread([this] { Run(); });
}

void LogPump::Finish() {
  if (!output_) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) {
    thread_.join();
  } else {
    Run();
  }
  output_.Reset();
}

void LogPump::Say(std::string_view line) {
  Remember(line);
  (void)writer_->Append(clock_.Wall(), line);
  (void)writer_->Flush();
}

void LogPump::Run() {
  ReadLoop();
  splitter_.Finish();
  FlushFiles();
}

void LogPump::ReadLoop() {
  std::array<char, kReadBytes> buffer;
  bool stopping = false;
  bool unflushed = false;
  while (true) {
    const ssize_t n = ::read(output_.get(), buffer.data(), buffer.size());
    if (n > 0) {
      splitter_.Feed({buffer.data(), static_cast<std::size_t>(n)});
      unflushed = true;
      continue;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) return;  // every writer is gone
    if (stopping) return;  // empty, and nobody of ours is left to write
    if (unflushed) FlushFiles();
    std::array<pollfd, 2> items = {pollfd{output_.get(), POLLIN, 0},
                                   pollfd{stop_.get(), POLLIN, 0}};
    const int wait = splitter_.has_partial() ? kPartialAfterMs : -1;
    const int ready = ::poll(items.data(), items.size(), wait);
    if (ready == 0) splitter_.FlushPartial();
    unflushed = ready == 0;
    stopping = (items[1].revents & POLLIN) != 0;
  }
}

void LogPump::TakeLine(std::string_view piece, bool complete, std::string_view whole) {
  const WallTime now = clock_.Wall();
  const bool only_the_end = piece.empty() && !whole.empty();
  if (!only_the_end && !log_failed_) {
    if (const Status written = writer_->Append(now, piece); !written) {
      log_failed_ = true;  // said once; the program must not suffer from a full disk under its log
      const std::lock_guard lock(mutex_);
      notes_.push_back("log lost: " + written.error().message);
    }
  }
  if (!complete) return;
  Remember(whole);
  TakeMetrics(whole, now);
}

void LogPump::Remember(std::string_view line) {
  const std::lock_guard lock(mutex_);
  tail_.push_back(SafeUtf8(line, kTailLineBytes));
  if (tail_.size() > kTailLines) tail_.pop_front();
}

void LogPump::TakeMetrics(std::string_view line, WallTime now) {
  if (!matcher_) return;
  for (const MetricValue& found : matcher_->Match(line)) {
    const std::string& name = options_.metrics[found.index].name;
    {
      const std::lock_guard lock(mutex_);
      const auto same =
          std::find_if(last_values_.begin(), last_values_.end(),
                       [&name](const model::FinalMetric& m) { return m.name == name; });
      if (same != last_values_.end()) {
        *same = {name, found.value, now};
      } else {
        last_values_.push_back({name, found.value, now});
      }
    }
    metric_count_.fetch_add(1);
    if (metrics_bytes_ >= options_.metrics_log_max) continue;
    const std::string entry = json::serialize(
        json::object{{"name", name}, {"value", found.value}, {"time", ToUnixMillis(now)}});
    metrics_bytes_ += entry.size() + 1;
    metrics_buffer_.append(entry).push_back('\n');
    if (metrics_bytes_ >= options_.metrics_log_max) {
      const std::lock_guard lock(mutex_);
      notes_.push_back("metric values after the first 64 MiB of them are not recorded");
    }
  }
  if (metrics_buffer_.size() > kReadBytes) FlushFiles();
}

void LogPump::FlushFiles() {
  if (!metrics_buffer_.empty()) {
    (void)env::WriteAll(metrics_fd_.get(), metrics_buffer_);
    metrics_buffer_.clear();
  }
  if (!log_failed_) (void)writer_->Flush();
}

std::vector<std::string> LogPump::LastLines() const {
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::min(kLinesReported, tail_.size());
  return {tail_.end() - static_cast<std::ptrdiff_t>(count), tail_.end()};
}

std::vector<model::FinalMetric> LogPump::Metrics() const {
  const std::lock_guard lock(mutex_);
  return last_values_;
}

std::vector<std::string> LogPump::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

std::string LogPump::LastError() const {
  const std::lock_guard lock(mutex_);
  // After the frames of the last traceback, which are indented, comes the exception.
  std::size_t start = tail_.empty() ? 0 : tail_.size() - 1;
  for (std::size_t i = tail_.size(); i-- > 0;) {
    if (!tail_[i].starts_with("Traceback (most recent call last)")) continue;
    for (start = i + 1; start < tail_.size() && tail_[start].starts_with(' ');) ++start;
    break;
  }
  std::string out;
  for (std::size_t i = start; i < tail_.size() && out.size() < kErrorBytes; ++i) {
    if (!out.empty()) out += '\n';
    out += tail_[i];
  }
  return SafeUtf8(out, kErrorBytes);
}

}  // namespace sabia::agent
