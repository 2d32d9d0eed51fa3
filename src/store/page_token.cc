#include "store/page_token.h"

#include <bit>
#include <cstring>

#include "base/encoding.h"

namespace sabia::store {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kHeader = 1 + 3 * kWord;  // version, fingerprint, number, id
// NextToken has at most 8192 characters in the API.
constexpr std::size_t kTokenMax = 8192;

std::uint64_t LoadWord(const void* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, kWord);
  return word;
}

void AppendWord(std::string& out, std::uint64_t word) {
  out.append(reinterpret_cast<const char*>(&word), kWord);
}

struct SipState {
  std::uint64_t a, b, c, d;
  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      a += b;
      c += d;
      b = std::rotl(b, 13) ^ a;
      d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b;
      a += d;
      b = std::rotl(b, 17) ^ c;
      d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }
  void Absorb(std::uint64_t word) {
    d ^= word;
    Rounds(2);
    a ^= word;
  }
};

}  // namespace

std::uint64_t SipHash(const TokenKey& key, std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little, "words are read as they lie");
  const std::uint64_t k0 = LoadWord(key.data());
  const std::uint64_t k1 = LoadWord(key.data() + kWord);
  SipState state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                 k1 ^ 0x7465646279746573};
  std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
  for (; bytes.size() >= kWord; bytes.remove_prefix(kWord)) state.Absorb(LoadWord(bytes.data()));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    last |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  state.Absorb(last);
  state.c ^= 0xff;
  state.Rounds(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

std::string EncodePageToken(const TokenKey& key, std::uint64_t fingerprint,
                            const PagePosition& position) {
  std::string bytes(1, kVersion);
  AppendWord(bytes, fingerprint);
  AppendWord(bytes, static_cast<std::uint64_t>(position.number));
  AppendWord(bytes, static_cast<std::uint64_t>(position.id));
  bytes += position.text;
  AppendWord(bytes, SipHash(key, bytes));
  return Base64Encode(bytes);
}

Result<PagePosition> DecodePageToken(const TokenKey& key, std::uint64_t fingerprint,
                                     std::string_view token) {
  const auto refuse = [] {
    return Fail(ErrorCode::kInvalidArgument,
                "the pagination token is not one that this request returned");
  };
  if (token.size() > kTokenMax) return refuse();
  const Result<std::string> decoded = Base64Decode(token);
  if (!decoded || decoded->size() < kHeader + kWord) return refuse();
  std::string_view bytes = *decoded;
  const std::uint64_t mac = LoadWord(bytes.data() + bytes.size() - kWord);
  bytes.remove_suffix(kWord);
  if (mac != SipHash(key, bytes) || bytes[0] != kVersion) return refuse();
  if (LoadWord(bytes.data() + 1) != fingerprint) return refuse();
  PagePosition position;
  position.number = static_cast<std::int64_t>(LoadWord(bytes.data() + 1 + kWord));
  position.id = static_cast<std::int64_t>(LoadWord(bytes.data() + 1 + 2 * kWord));
  position.text = std::string(bytes.substr(kHeader));
  return position;
}

}  // namespace sabia::store
