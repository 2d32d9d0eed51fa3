#include "channels/piece_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "base/encoding.h"

namespace sabia::channels {
namespace {

constexpr std::size_t kJournalMax = 256 << 20;

}  // namespace

env::Path PieceMap::PathOf(const env::Path& file) { return env::Path(file.native() + ".pieces"); }

PieceMap::PieceMap(PieceLayout layout, env::UniqueFd journal, std::string head)
    : layout_(std::move(layout)),
      journal_(std::move(journal)),
      head_(std::move(head)),
      has_(layout_.count()),
      checksums_(layout_.count()),
      missing_(layout_.count()) {}

Result<PieceMap> PieceMap::Open(const env::Path& file, const PieceLayout& layout,
                                const std::string& boot) {
  if (boot.empty()) return PieceMap(layout, env::UniqueFd(), "");
  std::string head = fmt::format("1 {} {} {} {}\n", boot, layout.size, layout.piece_size,
                                 layout.algorithm.empty() ? "-" : layout.algorithm);
  const env::Path path = PathOf(file);
  env::PosixFiles files;
  const auto known = files.Read(path, kJournalMax);
  ASSIGN_OR_RETURN(env::UniqueFd journal, env::OpenFile(path, O_WRONLY | O_CREAT | O_APPEND, 0600));
  PieceMap map(layout, std::move(journal), std::move(head));
  if (known && known->starts_with(map.head_)) {
    map.Replay(std::string_view(*known).substr(map.head_.size()));
  } else {
    RETURN_IF_ERROR(map.Clear());
  }
  return map;
}

void PieceMap::Replay(std::string_view text) {
  // A last line without its end was cut off: that piece comes again.
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    std::size_t index = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), index);
    if (error != std::errc() || index >= has_.size()) continue;
    const std::string_view rest(stop, static_cast<std::size_t>(line.data() + line.size() - stop));
    const auto checksum = HexDecode(rest.starts_with(' ') ? rest.substr(1) : rest);
    if (checksum) Mark(index, *checksum);
  }
}

void PieceMap::Mark(std::size_t index, std::string checksum) {
  if (!has_[index]) --missing_;
  has_[index] = true;
  checksums_[index] = std::move(checksum);
}

Status PieceMap::Add(std::size_t index, const std::string& checksum) {
  if (journal_) {
    RETURN_IF_ERROR(
        env::WriteAll(journal_.get(), fmt::format("{} {}\n", index, HexEncode(checksum))));
  }
  Mark(index, checksum);
  return {};
}

Status PieceMap::Clear() {
  has_.assign(has_.size(), false);
  missing_ = has_.size();
  if (!journal_) return {};
  if (::ftruncate(journal_.get(), 0) != 0) return FailErrno(errno, "failed to empty a journal");
  return env::WriteAll(journal_.get(), head_);
}

}  // namespace sabia::channels
