// Turns the pieces of items into what a program reads: decompressed and wrapped into RecordIO as
// the channel asks, large files moved without copying, small ones and frames gathered into few
// writes.
//
// What was gathered waits only while the pipe holds something for the reader; when it stands empty
// it is written at once. Memory: kGatherBytes, and a MiB while a compressed object is wrapped
// (longer ones pass through a file of the scratch directory, for their length comes first).
//
// Threading: thread-compatible. Errors: those of the streams; kInvalidArgument for an object that
// is no gzip data or too long for a record. They name the object.
#pragma once

#include <string>

#include "channels/pipe_items.h"
#include "channels/pipe_sink.h"

namespace sabia::channels {

inline constexpr std::size_t kGatherBytes = 256 << 10;

struct PipeFormat {
  bool record_io = false;
  bool gzip = false;
};

class PipeFeed {
 public:
  PipeFeed(PipeSink& sink, PipeFormat format, env::Path scratch);

  Result<Flow> Give(Piece& piece);
  // To be called before waiting for anything, and at the end.
  Flow Flush();

 private:
  Result<Flow> GiveText(std::string_view text);
  Result<Flow> GiveStream(Piece& piece);
  Result<Flow> GiveInflated(Piece& piece);
  Result<Flow> GiveInflatedRecord(Piece& piece);
  Flow Frame(std::uint64_t length);
  Flow Pad(std::uint64_t length);
  Flow Add(std::string_view data);
  // Lets `read` fill the free rest of the buffer; …
  template <typename Read>
  Result<std::size_t> Fetch(Read read);
  // … until it has nothing more.
  template <typename Read>
  Result<Flow> AddFrom(Read read);
  // Between pieces: a reader that has nothing to read gets what there is.
  Flow Settle();

  PipeSink& sink_;
  const PipeFormat format_;
  const env::Path scratch_;
  std::string buffer_;
  std::size_t used_ = 0;
};

}  // namespace sabia::channels
