// The aws-chunked framing. The first byte says whether chunks are signed, whether there is a
// trailer and in what pieces the bytes arrive; the second is the announced length. What ends well
// is as long as it was announced.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/aws_chunked.h"

namespace sabia::wire {
namespace {

class Pieces final : public BodyReader {
 public:
  Pieces(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  Result<std::size_t> Read(std::span<char> out) override {
    const std::size_t n = std::min({out.size(), piece_, bytes_.size()});
    std::copy_n(bytes_.data(), n, out.data());
    bytes_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view bytes_;
  std::size_t piece_;
};

void Check(unsigned mode, unsigned announced, std::string_view bytes) {
  Pieces inner(bytes, 1 + mode / 4);
  AwsChunkedOptions options;
  options.decoded_length = announced;
  options.has_trailer = (mode & 1) != 0;
  if ((mode & 2) != 0) options.signing.emplace();
  AwsChunkedReader reader(inner, options);
  std::array<char, 16> out{};
  std::uint64_t total = 0;
  while (true) {
    const auto n = reader.Read(out);
    if (!n) break;
    if (*n == 0) {
      CHECK(total == announced);
      break;
    }
    total += *n;
    CHECK(total <= bytes.size());
  }
}

}  // namespace
}  // namespace sabia::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  sabia::wire::Check(data[0], data[1],
                     std::string_view(reinterpret_cast<const char*>(data) + 2, size - 2));
  return 0;
}
