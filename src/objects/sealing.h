// Bytes at rest under AES-256-GCM: sealed as they are written, opened where they are read.
//
// A segment holds what one PUT or one UploadPart sent: 32 random bytes of salt, then frames of
// 64 KiB (the last one shorter, at least one), each followed by its tag. The key of a segment is
// derived from the object's data key and the salt, so a frame's number can be its nonce. Each tag
// also covers the number of the part, that of the frame, and whether it is the last one: frames,
// and parts, cannot change places, and a segment cannot be cut short, without being noticed. An
// object is the segments of its parts, one after the other.
//
// Threading: thread-compatible; functions are pure. Errors: kCorrupt when a tag does not match, and
// those of the disk.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::objects {

inline constexpr std::size_t kFrameBytes = 64U << 10;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kSaltBytes = 32;
inline constexpr std::size_t kKeyBytes = 32;

using DataKey = std::array<unsigned char, kKeyBytes>;

struct Segment {
  std::uint64_t size = 0;  // of its content
  int number = 0;          // of its part; 0 for an object that was put at once
};

// Of the segment on the disk.
std::uint64_t SealedSize(std::uint64_t content_size);

class Sealer {
 public:
  using Sink = std::function<Status(std::string_view)>;
  Sealer(const DataKey& key, int part_number, const std::array<unsigned char, kSaltBytes>& salt,
         Sink sink);
  Status Write(std::string_view content);
  // Once; the segment is complete afterwards.
  Status Finish();

 private:
  Status SealFrame(std::string_view content, bool last);

  const DataKey key_;  // of the segment
  const int part_number_;
  const Sink sink_;
  std::string head_;  // the salt, until it is written
  std::string held_;  // of the frame that is being filled
  std::uint64_t frame_ = 0;
};

// Reads the content of sealed segments. The descriptor must outlive it.
class Unsealer {
 public:
  Unsealer(const DataKey& key, std::vector<Segment> segments, int fd)
      : object_key_(key), segments_(std::move(segments)), fd_(fd) {}
  // Fills out, which must lie within the content. Reads whole frames, and no others than it needs.
  Status Read(std::uint64_t offset, std::span<char> out);

 private:
  struct Place {
    const Segment* segment;
    std::uint64_t start;     // of its content
    std::uint64_t position;  // of it in the file
  };
  Result<Place> Find(std::uint64_t offset);
  // Into frame_.
  Status OpenFrame(const Place& place, std::uint64_t number);

  DataKey object_key_;
  std::vector<Segment> segments_;
  int fd_;
  // The segment and frame that were opened last.
  std::uint64_t position_ = UINT64_MAX;
  DataKey key_{};
  std::uint64_t number_ = UINT64_MAX;
  std::string frame_;
};

// One short text under a key, for other keys: nonce, bytes, tag. associated is covered by the tag.
struct SealedText {
  const DataKey& key;
  std::string_view associated;
};
Result<std::string> SealText(const SealedText& how, std::string_view text,
                             const std::array<unsigned char, 12>& nonce);
Result<std::string> OpenText(const SealedText& how, std::string_view sealed);

}  // namespace sabia::objects
