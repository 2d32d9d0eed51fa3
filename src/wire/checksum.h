// The checksums that S3 clients send and ask for, and MD5 for ETags.
//
// CRCs of parts combine into the CRC of the whole without reading the bytes again (CombineCrc),
// which is how a multipart upload gets a full-object checksum.
//
// Threading: a Hasher is thread-compatible; the functions are pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sabia::wire {

enum class ChecksumAlgorithm { kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256 };

// "crc32": as in the header x-amz-checksum-crc32. ParseChecksumAlgorithm also takes upper case
// ("CRC32").
std::string_view Name(ChecksumAlgorithm algorithm);
std::optional<ChecksumAlgorithm> ParseChecksumAlgorithm(std::string_view name);
bool IsCrc(ChecksumAlgorithm algorithm);
// Bytes of a value before base64.
std::size_t ChecksumSize(ChecksumAlgorithm algorithm);

class Hasher {
 public:
  virtual ~Hasher() = default;
  virtual void Update(std::string_view data) = 0;
  // Raw bytes, big endian; idempotent, and no Update() may follow.
  virtual std::string Finish() = 0;
};

std::unique_ptr<Hasher> NewHasher(ChecksumAlgorithm algorithm);
std::unique_ptr<Hasher> NewMd5();

// The CRC of A followed by B, from their CRCs (raw bytes as Finish() gives them) and the length of
// B. REQUIRES: IsCrc(algorithm), both of ChecksumSize(algorithm) bytes.
std::string CombineCrc(ChecksumAlgorithm algorithm, std::string_view crc_a, std::string_view crc_b,
                       std::uint64_t length_b);

}  // namespace sabia::wire
