// Bytes for transfers in tests, and a look at what arrived.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "env/files.h"

namespace sabia::wire {

// So many bytes that do not repeat soon; others for another seed.
inline std::string Noise(std::size_t size, std::uint32_t seed = 12345) {
  std::string bytes(size, '\0');
  std::uint32_t x = seed;
  for (char& c : bytes) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return bytes;
}

// Of a file; "" when it cannot be read.
inline std::string Content(const env::Path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

}  // namespace sabia::wire
