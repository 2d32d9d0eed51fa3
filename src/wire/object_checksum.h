// What an endpoint announces about the content of an object, and whether bytes agree with it.
//
// The best of what the headers hold: a CRC or hash of the whole (x-amz-checksum-*), else a hash of
// the hashes of its parts, else an ETag that is an MD5 of the whole or of the MD5s of its parts.
// The ETag of an object under a KMS or customer key says nothing.
//
// Pure but for VerifyFile; thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "wire/checksum.h"
#include "wire/http.h"

namespace sabia::wire {

struct ObjectChecksum {
  enum class Kind { kNone, kWhole, kParts };
  Kind kind = Kind::kNone;
  std::optional<ChecksumAlgorithm> algorithm;  // nothing: MD5
  std::string value;                           // raw bytes
  std::uint64_t parts = 0;                     // kParts
  std::uint64_t part_size = 0;  // kParts: of all parts but the last; 0: not known yet

  // Whether it can be computed from the CRCs of arbitrary pieces.
  bool combines() const {
    return kind == Kind::kWhole && algorithm.has_value() && IsCrc(*algorithm);
  }
};

ObjectChecksum ChecksumOf(const Headers& headers);

// MD5, or a hasher of the algorithm.
std::unique_ptr<Hasher> NewHasherOf(const ObjectChecksum& checksum);

// kCorrupt names both values.
Status CompareChecksum(const ObjectChecksum& announced, std::string_view computed);

// Reads the file from the beginning; what cannot be verified passes.
Status VerifyFile(int fd, std::uint64_t size, const ObjectChecksum& announced);

}  // namespace sabia::wire
