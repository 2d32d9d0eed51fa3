// Which pieces of a file have arrived, remembered beside it so that a download goes on where a
// killed process left it.
//
// "<file>.pieces" holds one line per piece, written after the bytes of the piece. That order
// survives the death of the process, not of the machine: the first line names the boot, and another
// boot starts over, as does another size, piece size or checksum algorithm.
//
// Threading: thread-compatible. Errors: of files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/posix/posix_files.h"

namespace sabia::channels {

struct PieceLayout {
  std::uint64_t size = 0;        // of the file
  std::uint64_t piece_size = 0;  // of all pieces but the last; > 0
  std::string algorithm;         // of the pieces' checksums; "" for none

  std::size_t count() const {
    return static_cast<std::size_t>((size + piece_size - 1) / piece_size);
  }
  std::uint64_t offset(std::size_t index) const { return index * piece_size; }
  std::uint64_t length(std::size_t index) const {
    return std::min(piece_size, size - offset(index));
  }
};

class PieceMap {
 public:
  // boot: of this run of the machine; "": nothing is remembered, nor written.
  static Result<PieceMap> Open(const env::Path& file, const PieceLayout& layout,
                               const std::string& boot);

  const PieceLayout& layout() const { return layout_; }
  bool Has(std::size_t index) const { return has_[index]; }
  bool complete() const { return missing_ == 0; }
  // Raw bytes, as added.
  const std::string& checksum(std::size_t index) const { return checksums_[index]; }

  // REQUIRES: its bytes are in the file.
  Status Add(std::size_t index, const std::string& checksum);
  // Forgets everything: the content was wrong.
  Status Clear();

  static env::Path PathOf(const env::Path& file);

 private:
  PieceMap(PieceLayout layout, env::UniqueFd journal, std::string head);
  void Replay(std::string_view text);
  void Mark(std::size_t index, std::string checksum);

  PieceLayout layout_;
  env::UniqueFd journal_;
  std::string head_;
  std::vector<bool> has_;
  std::vector<std::string> checksums_;
  std::size_t missing_ = 0;
};

}  // namespace sabia::channels
