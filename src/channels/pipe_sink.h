// The writing end of a FIFO that a program reads: writes and moves bytes, waits for room for as
// long as it takes, and notices when the reader is gone or when it is told to stop.
//
// A reader that closes its end ends an epoch, and is no error: it shows in the Flow that every call
// answers. There is no timeout: a reader may sleep for hours.
//
// Threading: thread-compatible; `stop` becomes readable from any thread. Errors: of what is read
// (Move), never of the pipe.
#pragma once

#include <string_view>

#include "channels/object_reader.h"
#include "channels/pipe_meter.h"
#include "env/clock.h"
#include "env/posix/posix_files.h"

namespace sabia::channels {

// What a pipe holds: as much as an unprivileged process may ask for on most machines.
inline constexpr int kPipeBytes = 1 << 20;

enum class Flow {
  kOpen,
  kReaderGone,
  kStopped,
};

class PipeSink {
 public:
  // stop: a descriptor that becomes readable when everything is to end. All outlive the sink.
  PipeSink(env::UniqueFd fifo, int stop, PipeMeter::Epoch& meter, env::Clock& clock);

  // All of it, unless the flow ends first.
  Flow Write(std::string_view data);
  // Moves the pages of a file into the pipe, without copying where the kernel can.
  Result<Flow> Move(const ObjectStream::FilePart& file);

  // While one lives, what is to be written next is being got: a reader of an empty pipe waits for
  // us.
  class Fetching {
   public:
    explicit Fetching(PipeSink& sink);
    ~Fetching();
    Fetching(const Fetching&) = delete;
    Fetching& operator=(const Fetching&) = delete;

   private:
    PipeSink& sink_;
    const bool empty_;
  };

  // The reader has taken everything.
  bool Empty() const { return Waiting() == 0; }
  // kOpen while somebody may still read.
  Flow Look() const;
  // Nothing to write, and nothing that may be written: until the reader goes or the end.
  Flow Hold();

 private:
  std::uint64_t Waiting() const;  // bytes in the pipe
  // After EAGAIN.
  Flow AwaitRoom();
  // One splice, and its account.
  ssize_t Splice(int file, loff_t& offset, std::size_t bytes);
  Result<Flow> Copy(const ObjectStream::FilePart& file);

  const env::UniqueFd fifo_;
  const int stop_;
  PipeMeter::Epoch& meter_;
  env::Clock& clock_;
};

}  // namespace sabia::channels
