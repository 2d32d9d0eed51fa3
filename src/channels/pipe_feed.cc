#include "channels/pipe_feed.h"

#include <utility>

#include "channels/gunzip.h"
#include "channels/recordio.h"
#include "channels/spool.h"

namespace sabia::channels {
namespace {

// Files from this size on are moved page by page; below it, one copy is cheaper than the calls.
constexpr std::uint64_t kMoveFrom = 64 << 10;

#define RETURN_UNLESS_OPEN(expr) \
  if (const Flow flow_now = (expr); flow_now != Flow::kOpen) return flow_now

Status CheckRecord(std::uint64_t length, const std::string& name) {
  if (length <= kRecordIoPayloadMax) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "{} is longer than the {} bytes that a RecordIO record can hold", name,
              kRecordIoPayloadMax);
}

}  // namespace

PipeFeed::PipeFeed(PipeSink& sink, PipeFormat format, env::Path scratch)
    : sink_(sink), format_(format), scratch_(std::move(scratch)), buffer_(kGatherBytes, '\0') {}

Result<Flow> PipeFeed::Give(Piece& piece) {
  auto given = !piece.stream       ? GiveText(piece.text)
               : !format_.gzip     ? GiveStream(piece)
               : format_.record_io ? GiveInflatedRecord(piece)
                                   : GiveInflated(piece);
  if (!given || *given != Flow::kOpen) return given;
  return Settle();
}

Result<Flow> PipeFeed::GiveText(std::string_view text) {
  if (format_.record_io) {
    RETURN_IF_ERROR(CheckRecord(text.size(), "an attribute"));
    RETURN_UNLESS_OPEN(Frame(text.size()));
  }
  RETURN_UNLESS_OPEN(Add(text));
  return format_.record_io ? Pad(text.size()) : Flow::kOpen;
}

Result<Flow> PipeFeed::GiveStream(Piece& piece) {
  ObjectStream& stream = *piece.stream;
  if (format_.record_io) {
    RETURN_IF_ERROR(CheckRecord(stream.size(), piece.name));
    RETURN_UNLESS_OPEN(Frame(stream.size()));
  }
  const auto file = stream.File();
  if (file && file->length >= kMoveFrom) {
    RETURN_UNLESS_OPEN(Flush());
    auto moved = sink_.Move(*file);
    if (!moved) return Wrap(std::move(moved).error(), piece.name);
    RETURN_UNLESS_OPEN(*moved);
  } else {
    ASSIGN_OR_RETURN(const Flow flow,
                     AddFrom([&](std::span<char> into) { return stream.Read(into); }));
    RETURN_UNLESS_OPEN(flow);
  }
  return format_.record_io ? Pad(stream.size()) : Flow::kOpen;
}

Result<Flow> PipeFeed::GiveInflated(Piece& piece) {
  Gunzip gunzip(*piece.stream, piece.name);
  return AddFrom([&](std::span<char> into) { return gunzip.Read(into); });
}

Result<Flow> PipeFeed::GiveInflatedRecord(Piece& piece) {
  Gunzip gunzip(*piece.stream, piece.name);
  Spool spool(scratch_);
  // What was gathered goes first: then its memory serves to decompress into.
  RETURN_UNLESS_OPEN(Flush());
  while (true) {
    ASSIGN_OR_RETURN(const std::size_t n,
                     Fetch([&](std::span<char> into) { return gunzip.Read(into); }));
    if (n == 0) break;
    RETURN_IF_ERROR(CheckRecord(spool.size() + n, piece.name));
    RETURN_IF_ERROR(spool.Write({buffer_.data(), n}));
    RETURN_UNLESS_OPEN(sink_.Look());
  }
  RETURN_UNLESS_OPEN(Frame(spool.size()));
  RETURN_UNLESS_OPEN(Add(spool.memory()));
  if (spool.file() >= 0) {
    RETURN_UNLESS_OPEN(Flush());
    auto moved = sink_.Move({spool.file(), 0, spool.size()});
    if (!moved) return Wrap(std::move(moved).error(), piece.name);
    RETURN_UNLESS_OPEN(*moved);
  }
  return Pad(spool.size());
}

Flow PipeFeed::Frame(std::uint64_t length) {
  const auto header = RecordIoHeader(length);
  return Add({header.data(), header.size()});
}

Flow PipeFeed::Pad(std::uint64_t length) { return Add(RecordIoPadding(length)); }

Flow PipeFeed::Add(std::string_view data) {
  while (!data.empty()) {
    if (used_ == 0 && data.size() >= buffer_.size()) return sink_.Write(data);
    const std::size_t taken = data.copy(buffer_.data() + used_, buffer_.size() - used_);
    used_ += taken;
    data.remove_prefix(taken);
    if (used_ == buffer_.size()) RETURN_UNLESS_OPEN(Flush());
  }
  return Flow::kOpen;
}

template <typename Read>
Result<std::size_t> PipeFeed::Fetch(Read read) {
  const PipeSink::Fetching fetching(sink_);
  return read(std::span<char>(buffer_.data() + used_, buffer_.size() - used_));
}

template <typename Read>
Result<Flow> PipeFeed::AddFrom(Read read) {
  while (true) {
    ASSIGN_OR_RETURN(const std::size_t n, Fetch(read));
    if (n == 0) return Flow::kOpen;
    used_ += n;
    if (used_ == buffer_.size() || sink_.Empty()) RETURN_UNLESS_OPEN(Flush());
  }
}

Flow PipeFeed::Settle() { return used_ > 0 && sink_.Empty() ? Flush() : Flow::kOpen; }

Flow PipeFeed::Flush() {
  const std::string_view gathered(buffer_.data(), used_);
  used_ = 0;
  return sink_.Write(gathered);
}

}  // namespace sabia::channels
