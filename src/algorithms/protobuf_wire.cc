#include "algorithms/protobuf_wire.h"

namespace sabia::algorithms {

std::optional<std::uint64_t> WireReader::Varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return Bad();
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return Bad();
}

std::optional<std::uint64_t> WireReader::Fixed(std::size_t bytes) {
  if (rest_.size() < bytes) return Bad();
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(bytes);
  return value;
}

std::optional<WireField> WireReader::Next() {
  if (rest_.empty() || !ok_) return std::nullopt;
  const auto tag = Varint();
  if (!tag || *tag >> 35 != 0) return Bad();
  WireField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  field.type = static_cast<int>(*tag & 7);
  std::optional<std::uint64_t> value;
  if (field.type == 0) value = Varint();
  if (field.type == 1) value = Fixed(8);
  if (field.type == 5) value = Fixed(4);
  if (field.type == 2) {
    value = Varint();
    if (!value || *value > rest_.size()) return Bad();
    field.bytes = rest_.substr(0, static_cast<std::size_t>(*value));
    rest_.remove_prefix(field.bytes.size());
  }
  if (!value) return Bad();
  field.value = *value;
  return field;
}

}  // namespace sabia::algorithms
