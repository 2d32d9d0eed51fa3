// The low-level functions are deprecated in favour of EVP, which allocates and looks the algorithm
// up on every use: several times the cost of hashing a request.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "wire/sha256.h"

#include <openssl/crypto.h>

#include "base/encoding.h"

namespace sabia::wire {

Sha256::Sha256() { SHA256_Init(&state_); }

void Sha256::Update(std::string_view data) { SHA256_Update(&state_, data.data(), data.size()); }

Digest256 Sha256::Finish() {
  Digest256 digest;
  SHA256_Final(digest.data(), &state_);
  return digest;
}

Digest256 Sha256Of(std::string_view data) {
  Sha256 hash;
  hash.Update(data);
  return hash.Finish();
}

Digest256 HmacSha256(std::string_view key, std::string_view data) {
  constexpr std::size_t kBlock = 64;
  std::array<char, kBlock> padded{};
  if (key.size() > kBlock) {
    const Digest256 digest = Sha256Of(key);
    std::copy(digest.begin(), digest.end(), padded.begin());
  } else {
    std::copy(key.begin(), key.end(), padded.begin());
  }
  const std::string_view block(padded.data(), kBlock);
  for (char& c : padded) c = static_cast<char>(c ^ 0x36);
  Sha256 inner;
  inner.Update(block);
  inner.Update(data);
  const Digest256 inner_digest = inner.Finish();
  for (char& c : padded) c = static_cast<char>(c ^ 0x36 ^ 0x5c);
  Sha256 outer;
  outer.Update(block);
  outer.Update(Bytes(inner_digest));
  OPENSSL_cleanse(padded.data(), padded.size());
  return outer.Finish();
}

std::string Hex(const Digest256& digest) { return HexEncode(Bytes(digest)); }

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace sabia::wire
