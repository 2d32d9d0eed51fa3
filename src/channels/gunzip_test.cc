#include "channels/gunzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "channels/testing/text_stream.h"
#include "env/random.h"

namespace sabia::channels {
namespace {

std::string Decompress(const std::string& bytes, std::size_t in_step, std::size_t out_step) {
  TextStream in(bytes, in_step);
  Gunzip gunzip(in, "'x'");
  std::string out;
  std::string piece(out_step, '\0');
  while (true) {
    const auto n = gunzip.Read(piece);
    if (!n) return n.error().message;
    if (*n == 0) return out;
    out.append(piece, 0, *n);
  }
}

TEST(Gunzip, OneMemberInAnySteps) {
  const std::string text = std::string(100'000, 'a') + "end";
  for (const std::size_t in : {1u, 7u, 100'000u}) {
    for (const std::size_t out : {3u, 1000u, 1'000'000u}) {
      EXPECT_EQ(Decompress(Gzip(text), in, out), text) << in << " " << out;
    }
  }
}

TEST(Gunzip, SeveralMembersAndPadding) {
  EXPECT_EQ(Decompress(Gzip("one,") + Gzip("") + Gzip("two"), 5, 100), "one,two");
  EXPECT_EQ(Decompress(Gzip("one") + std::string(1000, '\0'), 100, 100), "one");
  EXPECT_EQ(Decompress(Gzip(""), 100, 100), "");
  EXPECT_EQ(Decompress("", 100, 100), "");
}

TEST(Gunzip, WhatIsDamagedIsRefused) {
  const std::string good = Gzip("some text that is long enough to be cut");
  EXPECT_EQ(Decompress("plain,text\n", 100, 100),
            "'x' cannot be decompressed as gzip: incorrect header check");
  EXPECT_EQ(Decompress(good + "junk", 100, 100),
            "'x' cannot be decompressed as gzip: incorrect header check");
  for (std::size_t cut = 1; cut < good.size(); ++cut) {
    EXPECT_EQ(Decompress(good.substr(0, cut), 100, 100), "'x' ends in the middle of its gzip data")
        << cut;
  }
  std::string bad_check = good;
  bad_check[good.size() - 6] ^= 1;
  EXPECT_EQ(Decompress(bad_check, 100, 100),
            "'x' cannot be decompressed as gzip: incorrect data check");
}

}  // namespace
}  // namespace sabia::channels
