// A seeded stream of random numbers that is the same on every machine: xoshiro256**.
//
// A suggestion draws from the stream of (seed, number of the trial), so that a restarted daemon
// draws what the killed one would have drawn. Not for secrets. Thread-compatible.
#pragma once

#include <array>
#include <cstdint>

namespace sabia::tuner {

// Mixes a value so that neighbours have nothing in common (SplitMix64's finaliser).
std::uint64_t Mix(std::uint64_t value);

// Which of the independent streams of one seed.
struct Stream {
  std::uint64_t id = 0;
};

class Rng {
 public:
  Rng(std::uint64_t seed, Stream stream);

  std::uint64_t Next();
  double Uniform();                          // [0, 1)
  double Normal();                           // mean 0, deviation 1
  std::uint64_t Below(std::uint64_t bound);  // 0 .. bound - 1; REQUIRES bound > 0

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace sabia::tuner
