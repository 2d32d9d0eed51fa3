// Running checksums of content on its way: what an upload announces and what a download must match.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "wire/http.h"
#include "wire/object_checksum.h"
#include "wire/transport.h"

namespace sabia::wire {

// CRC-32 as S3 writes it: base64 of the four bytes, most significant first.
std::string Crc32Text(std::uint32_t crc);
std::uint32_t Crc32(std::uint32_t crc, std::string_view data);
Result<std::uint32_t> Crc32OfFile(const FileSpan& file);

// Verifies the body of a GET against what its head announces of the whole object
// (object_checksum.h); hashes of parts are not looked at. Thread-compatible.
class ContentCheck {
 public:
  // Starts over, with the head of a 200 answer.
  void Start(const Headers& headers);
  void Update(std::string_view data);
  // kCorrupt names what differs.
  Status Finish();

 private:
  ObjectChecksum announced_;
  std::unique_ptr<Hasher> hasher_;
};

}  // namespace sabia::wire
