#include "agent/line_splitter.h"

#include <algorithm>

namespace sabia::agent {

void LineSplitter::End() {
  std::string_view whole = line_;
  if (whole.ends_with('\r')) whole.remove_suffix(1);
  sink_(whole.substr(std::min(handed_, whole.size())), true, whole);
  line_.clear();
  handed_ = 0;
}

void LineSplitter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const std::size_t rest = newline == bytes.npos ? bytes.size() : newline;
    const std::size_t room = limit_ - line_.size();
    line_.append(bytes.substr(0, std::min(rest, room)));
    if (rest > room) {
      End();
      bytes.remove_prefix(room);
      continue;
    }
    bytes.remove_prefix(rest);
    if (newline == bytes.npos) return;
    bytes.remove_prefix(1);
    End();
  }
}

void LineSplitter::FlushPartial() {
  if (!has_partial()) return;
  sink_(std::string_view(line_).substr(handed_), false, {});
  handed_ = line_.size();
}

void LineSplitter::Finish() {
  if (!line_.empty()) End();
}

}  // namespace sabia::agent
