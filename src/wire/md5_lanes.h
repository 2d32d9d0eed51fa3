// MD5 over whole blocks, of one stream or of four at a time in the lanes of vector registers.
//
// One stream cannot be hashed faster than its chain of dependent steps allows; four of them take
// the time of one. Padding and the bytes between blocks are the caller's (md5_team.h). Only ETags
// are MD5: nothing relies on it against anybody who means harm.
//
// Threading: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sabia::wire {

inline constexpr std::size_t kMd5Block = 64;
inline constexpr std::size_t kMd5Lanes = 4;

struct Md5State {
  std::array<std::uint32_t, 4> words{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
};

void Md5Blocks(Md5State& state, const char* data, std::size_t blocks);
// Each lane takes as many blocks. The states are different ones.
void Md5Blocks(const std::array<Md5State*, kMd5Lanes>& states,
               const std::array<const char*, kMd5Lanes>& data, std::size_t blocks);
// Raw bytes.
std::string Md5Bytes(const Md5State& state);

}  // namespace sabia::wire
