// The wire format of protocol buffers, read without a schema: fields one after the other. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sabia::algorithms {

struct WireField {
  std::uint32_t number = 0;
  int type = 0;             // 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
  std::uint64_t value = 0;  // of types 0, 1 and 5
  std::string_view bytes;   // of type 2
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // Nothing at the end, and nothing when the bytes are no message: then ok() is false.
  std::optional<WireField> Next();
  std::optional<std::uint64_t> Varint();
  std::optional<std::uint64_t> Fixed(std::size_t bytes);  // little-endian
  bool at_end() const { return rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::nullopt_t Bad() {
    ok_ = false;
    return std::nullopt;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace sabia::algorithms
