// Running checksums of content on its way: what an upload announces and what a download must match.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "wire/http.h"
#include "wire/transport.h"

namespace sabia::wire {

// CRC-32 as S3 writes it: base64 of the four bytes, most significant first.
std::string Crc32Text(std::uint32_t crc);
std::uint32_t Crc32(std::uint32_t crc, std::string_view data);
Result<std::uint32_t> Crc32OfFile(const FileSpan& file);

// Verifies the body of a GET against what its head announces: x-amz-checksum-crc32 of the whole
// object, else an ETag that is an MD5. Thread-compatible.
class ContentCheck {
 public:
  ContentCheck();
  ~ContentCheck();
  // Starts over, with the head of a 200 answer.
  void Start(const Headers& headers);
  void Update(std::string_view data);
  // kCorrupt names what differs.
  Status Finish();

 private:
  struct Md5;
  std::string expected_crc_;
  std::string expected_md5_;
  std::uint32_t crc_ = 0;
  std::unique_ptr<Md5> md5_;
};

}  // namespace sabia::wire
