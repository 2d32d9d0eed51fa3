// A stream over a text, for tests, that gives at most `step` bytes at a time.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "channels/object_reader.h"

namespace sabia::channels {

class TextStream final : public ObjectStream {
 public:
  explicit TextStream(std::string text, std::size_t step = 1 << 20)
      : text_(std::move(text)), step_(step) {}

  std::uint64_t size() const override { return text_.size(); }
  Result<std::size_t> Read(std::span<char> into) override {
    const std::size_t n = text_.copy(into.data(), std::min(into.size(), step_), at_);
    at_ += n;
    return n;
  }

 private:
  const std::string text_;
  const std::size_t step_;
  std::size_t at_ = 0;
};

inline std::string Gzip(std::string_view text, int level = 6) {
  z_stream z{};
  CHECK(::deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(::deflateBound(&z, text.size()) + 64, '\0');
  std::string in(text);
  z.next_in = reinterpret_cast<unsigned char*>(in.data());
  z.avail_in = static_cast<unsigned>(in.size());
  z.next_out = reinterpret_cast<unsigned char*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  CHECK(::deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  ::deflateEnd(&z);
  return out;
}

}  // namespace sabia::channels
