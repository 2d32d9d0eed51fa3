// SHA-256 and HMAC-SHA-256, as SigV4 needs them: small, many, without allocation.
//
// Pure; thread-compatible.
#pragma once

#include <openssl/sha.h>

#include <array>
#include <string>
#include <string_view>

namespace sabia::wire {

using Digest256 = std::array<unsigned char, 32>;

class Sha256 {
 public:
  Sha256();
  void Update(std::string_view data);
  // Final; the object is not used afterwards.
  Digest256 Finish();

 private:
  SHA256_CTX state_;
};

Digest256 Sha256Of(std::string_view data);
Digest256 HmacSha256(std::string_view key, std::string_view data);
inline Digest256 HmacSha256(const Digest256& key, std::string_view data) {
  return HmacSha256(std::string_view(reinterpret_cast<const char*>(key.data()), key.size()), data);
}
std::string Hex(const Digest256& digest);
inline std::string_view Bytes(const Digest256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Takes the same time wherever the first difference is.
bool EqualInConstantTime(std::string_view a, std::string_view b);

// Of no bytes at all: "e3b0c442…".
inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace sabia::wire
