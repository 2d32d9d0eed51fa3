// Moving bytes over one accepted connection: the non-blocking step (Transport) and the timed loop
// (TimedStream).
//
// A transport never blocks; it says what it waits for. TimedStream waits, but only as long as the
// other side makes progress: a peer that stalls, or that trickles below the least rate, is cut off
// with kTimeout. Threading: thread-compatible; the socket may be shut down from another thread,
// which ends every wait.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "env/clock.h"
#include "env/posix/posix_files.h"

namespace sabia::wire {

enum class IoStatus { kDone, kEnd, kWantRead, kWantWrite, kFailed };

struct IoResult {
  IoStatus status = IoStatus::kDone;
  std::size_t bytes = 0;  // moved, when kDone
};

// length bytes of an open file from offset.
struct FileSpan {
  int fd = -1;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int fd() const = 0;
  virtual bool tls() const = 0;
  // Bytes that were received but not yet read: waiting for the socket would miss them.
  virtual bool HasBuffered() const = 0;
  // kDone when reads and writes may start.
  virtual IoResult Handshake() = 0;
  virtual IoResult Read(std::span<char> out) = 0;  // out is not empty
  // Both parts in one step when possible; first may be empty.
  virtual IoResult Write(std::string_view first, std::string_view second) = 0;
  virtual IoResult SendFile(const FileSpan& file) = 0;
  // Tells the other side that nothing more comes.
  virtual void FinishWriting() = 0;
};

// Owns a connected, non-blocking TCP socket.
std::unique_ptr<Transport> MakePlainTransport(env::UniqueFd socket);

struct StreamLimits {
  Millis stall{30'000};  // longest wait for a single byte
  Millis grace{30'000};  // waiting in total that any transfer may take
  std::uint64_t bytes_per_second =
      4096;  // beyond the grace: each waited second must have moved so much
};

class TimedStream {
 public:
  TimedStream(Transport& transport, const StreamLimits& limits, env::Clock& clock)
      : transport_(transport), limits_(limits), clock_(clock) {}

  // At least one byte, 0 at the end of the stream.
  Result<std::size_t> Read(std::span<char> out);
  Status WriteAll(std::string_view first, std::string_view second);
  Status SendFile(FileSpan file);
  // A new message begins: progress is counted afresh.
  void Restart();

 private:
  Status Wait(IoStatus status);

  Transport& transport_;
  const StreamLimits& limits_;
  env::Clock& clock_;
  std::uint64_t moved_ = 0;
  std::int64_t waited_ms_ = 0;
};

}  // namespace sabia::wire
