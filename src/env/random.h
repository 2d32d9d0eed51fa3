// The only source of randomness: seeded in tests and simulation, the kernel's in production.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sabia::env {

// Threading: implementations are thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual void Fill(std::span<unsigned char> out) = 0;

  std::uint64_t Next();
  // Uniform in [0, bound); bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Lower-case hex digits.
  std::string Hex(std::size_t digits);
  // A version 4 UUID.
  std::string Uuid();
};

// Deterministic: the same seed gives the same bytes (SplitMix64). Not for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  void Fill(std::span<unsigned char> out) override;

 private:
  std::uint64_t state_;
};

}  // namespace sabia::env
