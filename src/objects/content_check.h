// Whether bytes are those that the index describes: size, ETag, checksums, also those of the parts.
//
// Every byte is hashed once for each thing that is known about it. Pure; thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "objects/types.h"

namespace sabia::objects {

class ContentCheck {
 public:
  // expected: size, etag, checksums, parts and part_checksums count, and nothing else. It must
  // outlive this.
  // hashed_etag: the ETag is made of MD5s.
  explicit ContentCheck(const ObjectInfo& expected, bool hashed_etag = true);

  // The bytes in order.
  void Update(std::string_view data);
  // What differs, in words: "is 12 bytes long, not 13". Empty: all is right.
  std::vector<std::string> Finish();

 private:
  struct Sum {
    std::string name;  // "crc32"
    std::string value;
    ChecksumAlgorithm algorithm;
    std::unique_ptr<Hasher> whole;  // over the bytes, or over the parts' checksums
    std::unique_ptr<Hasher> part;   // of composite ones
    std::string raw_parts;
  };
  void EndPart();
  bool Composite(const Sum& sum) const { return sum.value.find('-') != std::string::npos; }
  void CheckEtag(std::vector<std::string>& out);

  const ObjectInfo& expected_;
  const bool hashed_etag_;
  std::uint64_t size_ = 0;
  std::uint64_t left_in_part_ = 0;
  std::size_t part_ = 0;
  std::unique_ptr<Hasher> md5_ = NewMd5();
  std::unique_ptr<Hasher> part_md5_ = NewMd5();
  std::vector<Sum> sums_;
  std::vector<std::string> unknown_;
};

}  // namespace sabia::objects
