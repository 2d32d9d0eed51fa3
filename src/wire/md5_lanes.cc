#include "wire/md5_lanes.h"

#include <bit>
#include <cstring>
#include <utility>

namespace sabia::wire {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

using Lanes = std::uint32_t __attribute__((vector_size(16)));

// The integer parts of 2^32 * |sin(i + 1)| (RFC 1321).
constexpr std::array<std::uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

// What follows is written once for one stream (Word is a number) and for four (a vector of them).
// Always inlined, so that each caller has it in the instructions it may use.
template <std::size_t kStep, typename Word>
[[gnu::always_inline]] inline void Step(Word (&s)[4], const Word (&message)[16]) {
  Word mixed;
  std::size_t taken = 0;
  if constexpr (kStep < 16) {
    mixed = s[3] ^ (s[1] & (s[2] ^ s[3]));
    taken = kStep;
  } else if constexpr (kStep < 32) {
    mixed = s[2] ^ (s[3] & (s[1] ^ s[2]));
    taken = (5 * kStep + 1) % 16;
  } else if constexpr (kStep < 48) {
    mixed = s[1] ^ s[2] ^ s[3];
    taken = (3 * kStep + 5) % 16;
  } else {
    mixed = s[2] ^ (s[1] | ~s[3]);
    taken = 7 * kStep % 16;
  }
  constexpr int kShift = kShifts[kStep / 16][kStep % 4];
  const Word sum = s[0] + mixed + (message[taken] + kSines[kStep]);
  s[0] = s[3];
  s[3] = s[2];
  s[2] = s[1];
  s[1] += (sum << kShift) | (sum >> (32 - kShift));
}

template <typename Word, std::size_t... kSteps>
[[gnu::always_inline]] inline void Compress(Word (&state)[4], const Word (&message)[16],
                                            std::index_sequence<kSteps...>) {
  Word s[4] = {state[0], state[1], state[2], state[3]};
  (Step<kSteps>(s, message), ...);
  for (int i = 0; i < 4; ++i) state[i] += s[i];
}

// Four words of each lane, turned so that the lanes' first words come together, and so on.
[[gnu::always_inline]] inline void LoadTurned(const std::array<const char*, kMd5Lanes>& data,
                                              std::size_t offset, Lanes* out) {
  Lanes rows[kMd5Lanes];
  for (std::size_t i = 0; i < kMd5Lanes; ++i) std::memcpy(&rows[i], data[i] + offset, 16);
  const Lanes low01 = __builtin_shuffle(rows[0], rows[1], Lanes{0, 4, 1, 5});
  const Lanes low23 = __builtin_shuffle(rows[2], rows[3], Lanes{0, 4, 1, 5});
  const Lanes high01 = __builtin_shuffle(rows[0], rows[1], Lanes{2, 6, 3, 7});
  const Lanes high23 = __builtin_shuffle(rows[2], rows[3], Lanes{2, 6, 3, 7});
  out[0] = __builtin_shuffle(low01, low23, Lanes{0, 1, 4, 5});
  out[1] = __builtin_shuffle(low01, low23, Lanes{2, 3, 6, 7});
  out[2] = __builtin_shuffle(high01, high23, Lanes{0, 1, 4, 5});
  out[3] = __builtin_shuffle(high01, high23, Lanes{2, 3, 6, 7});
}

[[gnu::always_inline]] inline void CompressFour(const std::array<Md5State*, kMd5Lanes>& states,
                                                const std::array<const char*, kMd5Lanes>& data,
                                                std::size_t blocks) {
  Lanes state[4];
  for (std::size_t word = 0; word < 4; ++word) {
    state[word] = Lanes{states[0]->words[word], states[1]->words[word], states[2]->words[word],
                        states[3]->words[word]};
  }
  for (std::size_t at = 0; at < blocks * kMd5Block; at += kMd5Block) {
    Lanes message[16];
    for (std::size_t i = 0; i < 4; ++i) LoadTurned(data, at + 16 * i, message + 4 * i);
    Compress(state, message, std::make_index_sequence<64>());
  }
  for (std::size_t lane = 0; lane < kMd5Lanes; ++lane) {
    for (std::size_t word = 0; word < 4; ++word) states[lane]->words[word] = state[word][lane];
  }
}

#if defined(__x86_64__)
// Rotations and three-way logic in one instruction each.
[[gnu::target("avx512vl")]] void CompressFourAvx512(const std::array<Md5State*, kMd5Lanes>& states,
                                                    const std::array<const char*, kMd5Lanes>& data,
                                                    std::size_t blocks) {
  CompressFour(states, data, blocks);
}
#endif

}  // namespace

void Md5Blocks(Md5State& state, const char* data, std::size_t blocks) {
  std::uint32_t words[4];
  std::memcpy(words, state.words.data(), sizeof words);
  for (const char* const end = data + blocks * kMd5Block; data != end; data += kMd5Block) {
    std::uint32_t message[16];
    std::memcpy(message, data, sizeof message);
    Compress(words, message, std::make_index_sequence<64>());
  }
  std::memcpy(state.words.data(), words, sizeof words);
}

void Md5Blocks(const std::array<Md5State*, kMd5Lanes>& states,
               const std::array<const char*, kMd5Lanes>& data, std::size_t blocks) {
#if defined(__x86_64__)
  static const bool kHasAvx512 = __builtin_cpu_supports("avx512vl") != 0;
  if (kHasAvx512) return CompressFourAvx512(states, data, blocks);
#endif
  CompressFour(states, data, blocks);
}

std::string Md5Bytes(const Md5State& state) {
  std::string out(sizeof state.words, '\0');
  std::memcpy(out.data(), state.words.data(), out.size());
  return out;
}

}  // namespace sabia::wire
