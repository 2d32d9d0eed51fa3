// In which order a channel's items are given in an epoch, and to which host.
//
// Without a seed every epoch is the listing's order. With one, each epoch has an order of its own
// that follows from seed and epoch alone: hosts agree on it without talking, and a repeated job
// sees it again. ShardedByS3Key deals the items out one by one in that order, so that with a seed a
// host's share changes from epoch to epoch, as on AWS. Which order AWS derives from a seed is not
// documented; this one is ours.
//
// Pure values; any thread. Memory: 4 bytes per item with a seed, none without.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sabia::channels {

struct Share {
  std::uint64_t host = 0;  // of …
  std::uint64_t hosts = 1;
};

class EpochOrder {
 public:
  // The listing's order. How long the listing is need not be known.
  explicit EpochOrder(Share share) : share_(share) {}
  // REQUIRES: count < 2^32.
  EpochOrder(Share share, std::uint64_t count, std::uint64_t seed, std::uint64_t epoch);

  // The number in the listing of the place-th item of the host; nothing beyond the last, where the
  // order knows the end.
  std::optional<std::uint64_t> At(std::uint64_t place) const;

 private:
  Share share_;
  std::optional<std::vector<std::uint32_t>> shuffled_;
};

}  // namespace sabia::channels
