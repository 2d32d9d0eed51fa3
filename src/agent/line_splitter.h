// Cuts a stream of bytes into lines, in bounded memory, and hands out a line's beginning when the
// rest is late.
//
// Threading: thread-compatible. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sabia::agent {

class LineSplitter {
 public:
  // piece: what of the line was not handed out before, without line ends (may be empty when only
  // the end was missing); complete: the line ends here; whole: the line from its start, for
  // matching (empty when not complete).
  using Sink = std::function<void(std::string_view piece, bool complete, std::string_view whole)>;

  // Lines longer than limit are cut there.
  LineSplitter(std::size_t limit, Sink sink) : limit_(limit), sink_(std::move(sink)) {}

  void Feed(std::string_view bytes);
  // Hands out the unfinished line's new part, if any; the line goes on afterwards.
  void FlushPartial();
  // The stream ended: an unfinished line ends too.
  void Finish();
  bool has_partial() const { return line_.size() > handed_; }

 private:
  void End();

  const std::size_t limit_;
  const Sink sink_;
  std::string line_;
  std::size_t handed_ = 0;  // bytes of line_ that the sink has seen
};

}  // namespace sabia::agent
