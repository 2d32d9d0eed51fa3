#include "tuner/sobol.h"

#include <gtest/gtest.h>

#include <set>

#include "tuner/rng.h"

namespace sabia::tuner {
namespace {

// The first points of the sequence in three dimensions, in the order of the index' plain binary
// digits (Bratley and Fox 1988, before Gray codes).
TEST(Sobol, FirstPointsAreThePublishedOnes) {
  const double expected[8][3] = {{0, 0, 0},
                                 {0.5, 0.5, 0.5},
                                 {0.25, 0.75, 0.75},
                                 {0.75, 0.25, 0.25},
                                 {0.125, 0.625, 0.375},
                                 {0.625, 0.125, 0.875},
                                 {0.375, 0.375, 0.625},
                                 {0.875, 0.875, 0.125}};
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_EQ(SobolDigits(i, d) * 0x1p-32, expected[i][d]) << i << " " << d;
    }
  }
}

// Each of the first 2^k points in its own dyadic interval, in every dimension: so for the plain
// sequence, and scrambling must not change it.
TEST(Sobol, EveryDimensionIsStratified) {
  constexpr std::uint32_t kPoints = 256;
  const Sobol scrambled(7, kSobolDimensions);
  for (std::size_t d = 0; d < kSobolDimensions; ++d) {
    std::set<int> plain;
    std::set<int> shuffled;
    for (std::uint32_t i = 0; i < kPoints; ++i) {
      plain.insert(static_cast<int>(SobolDigits(i, d) >> 24));
      const double coordinate = scrambled.At(i)[d];
      EXPECT_GE(coordinate, 0);
      EXPECT_LT(coordinate, 1);
      shuffled.insert(static_cast<int>(coordinate * kPoints));
    }
    EXPECT_EQ(plain.size(), kPoints) << d;
    EXPECT_EQ(shuffled.size(), kPoints) << d;
  }
}

// The first two dimensions are a (0, 2)-sequence: 2^(a+b) points, one in each 2^-a by 2^-b box.
TEST(Sobol, FirstPairFillsEveryBox) {
  const Sobol sobol(3, 2);
  for (int a = 0; a <= 6; ++a) {
    std::set<std::pair<int, int>> boxes;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const Point p = sobol.At(i);
      boxes.emplace(static_cast<int>(p[0] * (1 << a)), static_cast<int>(p[1] * (1 << (6 - a))));
    }
    EXPECT_EQ(boxes.size(), 64u) << a;
  }
}

TEST(Sobol, IntegratesBetterThanIndependentDraws) {
  constexpr std::uint32_t kPoints = 1024;
  double sobol_error = 0;
  double random_error = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Sobol sobol(seed, 6);
    Rng rng(seed, Stream{0});
    double a = 0;
    double b = 0;
    for (std::uint32_t i = 0; i < kPoints; ++i) {
      double product = 1;
      double other = 1;
      for (const double x : sobol.At(i)) {
        product *= 2 * x;
        other *= 2 * rng.Uniform();
      }
      a += product / kPoints;
      b += other / kPoints;
    }
    sobol_error += std::abs(a - 1);
    random_error += std::abs(b - 1);
  }
  EXPECT_LT(sobol_error, 0.3 * random_error);
}

TEST(Sobol, SeedsDifferAndDimensionsBeyondTheTableAreDrawn) {
  const Sobol sobol(1, kSobolDimensions + 2);
  EXPECT_EQ(sobol.At(5), Sobol(1, kSobolDimensions + 2).At(5));
  EXPECT_NE(sobol.At(5), Sobol(2, kSobolDimensions + 2).At(5));
  EXPECT_NE(sobol.At(5).back(), sobol.At(6).back());
}

TEST(Rng, MomentsAndStreams) {
  Rng rng(1, Stream{2});
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.Normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.03);
  EXPECT_NEAR(squares / kDraws, 1, 0.05);
  EXPECT_EQ(Rng(1, Stream{2}).Next(), Rng(1, Stream{2}).Next());
  EXPECT_NE(Rng(1, Stream{2}).Next(), Rng(1, Stream{3}).Next());
  EXPECT_NE(Rng(1, Stream{2}).Next(), Rng(2, Stream{2}).Next());
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(rng.Below(7));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace sabia::tuner
