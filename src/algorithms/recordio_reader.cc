#include "algorithms/recordio_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "algorithms/protobuf_wire.h"

namespace sabia::algorithms {
namespace {

constexpr std::uint32_t kMagic = 0xced7230a;
constexpr std::uint32_t kLengthMask = (1u << 29) - 1;

// Fields of aialgs.data: Record {features 1, label 2}, map entries {key 1, value 2}, Value
// {float32_tensor 2, float64_tensor 3, int32_tensor 7, bytes 9}, tensors {values 1, keys 2, shape
// 3}.
constexpr std::uint32_t kFeatures = 1;
constexpr std::uint32_t kLabel = 2;
constexpr std::uint32_t kFloat32 = 2;
constexpr std::uint32_t kFloat64 = 3;
constexpr std::uint32_t kInt32 = 7;

struct Tensor {
  std::vector<float> values;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> shape;
  bool sparse() const { return !keys.empty(); }
};

// A repeated number, packed or one by one.
bool AppendNumbers(const WireField& field, std::uint32_t kind, std::vector<float>* out) {
  WireReader packed(field.bytes);
  const auto one = [&]() -> std::optional<std::uint64_t> {
    if (field.type != 2) return field.value;
    if (kind == kInt32) return packed.Varint();
    return packed.Fixed(kind == kFloat64 ? 8 : 4);
  };
  do {
    if (field.type == 2 && packed.at_end()) break;
    const auto bits = one();
    if (!bits) return false;
    if (kind == kFloat32) out->push_back(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)));
    if (kind == kFloat64) out->push_back(static_cast<float>(std::bit_cast<double>(*bits)));
    if (kind == kInt32) out->push_back(static_cast<float>(static_cast<std::int32_t>(*bits)));
  } while (field.type == 2);
  return true;
}

bool AppendIntegers(const WireField& field, std::vector<std::uint64_t>* out) {
  if (field.type == 0) {
    out->push_back(field.value);
    return true;
  }
  WireReader packed(field.bytes);
  while (!packed.at_end()) {
    const auto value = packed.Varint();
    if (!value) return false;
    out->push_back(*value);
  }
  return field.type == 2;
}

std::optional<Tensor> ReadTensor(std::string_view message, std::uint32_t kind) {
  Tensor tensor;
  WireReader reader(message);
  while (const auto field = reader.Next()) {
    bool good = true;
    if (field->number == 1) good = AppendNumbers(*field, kind, &tensor.values);
    if (field->number == 2) good = AppendIntegers(*field, &tensor.keys);
    if (field->number == 3) good = AppendIntegers(*field, &tensor.shape);
    if (!good) return std::nullopt;
  }
  if (!reader.ok() || (tensor.sparse() && tensor.keys.size() != tensor.values.size())) {
    return std::nullopt;
  }
  return tensor;
}

// The tensor of the map entry "values"; an entry of another name gives an empty one.
std::optional<Tensor> ReadEntry(std::string_view message) {
  WireReader reader(message);
  std::string_view key;
  std::string_view value;
  while (const auto field = reader.Next()) {
    if (field->type == 2 && field->number == 1) key = field->bytes;
    if (field->type == 2 && field->number == 2) value = field->bytes;
  }
  if (!reader.ok()) return std::nullopt;
  if (key != "values") return Tensor{};
  WireReader kinds(value);
  while (const auto field = kinds.Next()) {
    const bool known =
        field->number == kFloat32 || field->number == kFloat64 || field->number == kInt32;
    if (field->type == 2 && known) return ReadTensor(field->bytes, field->number);
  }
  return std::nullopt;
}

// Sparse keys to (index, value) with the indices in order; dense values but for the missing ones.
bool AppendFeatures(const Tensor& tensor, RowBlock* out) {
  const std::size_t before = out->values.size();
  std::size_t columns = tensor.sparse() ? 0 : tensor.values.size();
  if (!tensor.shape.empty()) columns = std::max<std::size_t>(columns, tensor.shape.back());
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    if (!tensor.sparse() && std::isnan(tensor.values[i])) continue;
    const std::uint64_t index = tensor.sparse() ? tensor.keys[i] : i;
    if (index >= std::numeric_limits<std::uint32_t>::max()) return false;
    out->indices.push_back(static_cast<std::uint32_t>(index));
    out->values.push_back(tensor.values[i]);
    columns = std::max<std::size_t>(columns, index + 1);
  }
  if (columns > std::numeric_limits<std::uint32_t>::max()) return false;
  out->columns = std::max(out->columns, columns);
  out->row_sizes.push_back(static_cast<std::uint32_t>(out->values.size() - before));
  return true;
}

std::string_view AppendRecord(std::string_view message, RowBlock* out) {
  Tensor features;
  Tensor label;
  WireReader reader(message);
  while (const auto field = reader.Next()) {
    if (field->type != 2 || (field->number != kFeatures && field->number != kLabel)) continue;
    auto tensor = ReadEntry(field->bytes);
    if (!tensor) return "a tensor that cannot be read";
    Tensor& target = field->number == kFeatures ? features : label;
    if (!tensor->values.empty() || !tensor->shape.empty()) target = std::move(*tensor);
  }
  if (!reader.ok()) return "no protobuf message";
  if (label.values.size() != 1) return "a record without exactly one label";
  if (!AppendFeatures(features, out)) return "a feature index beyond 2^32";
  out->labels.push_back(label.values[0]);
  return {};
}

Result<RowBlock> ReadFile(const NamedText& file) {
  RowBlock block;
  std::string parts;  // of a record that goes over several frames
  std::string_view rest = file.text;
  for (std::size_t record = 0; !rest.empty(); ++record) {
    const auto fail = [&](std::string_view problem) {
      return Fail(ErrorCode::kInvalidArgument, "record {} of file '{}': {}", record, file.name,
                  problem);
    };
    WireReader header(rest);
    const auto magic = header.Fixed(4);
    const auto length = header.Fixed(4);
    if (!magic || !length || *magic != kMagic) return fail("no RecordIO frame");
    const std::size_t size = static_cast<std::size_t>(*length) & kLengthMask;
    const std::size_t padded = (size + 3) / 4 * 4;
    if (rest.size() - 8 < size) return fail("the file ends within it");
    const auto flag = *length >> 29;  // 0 whole, 1 begins, 2 goes on, 3 ends
    std::string_view payload = rest.substr(8, size);
    rest.remove_prefix(std::min(8 + padded, rest.size()));
    if (flag != 0) {
      parts.append(payload);
      if (flag != 3) continue;
      payload = parts;
    }
    if (const std::string_view problem = AppendRecord(payload, &block); !problem.empty()) {
      return fail(problem);
    }
    parts.clear();
  }
  return block;
}

}  // namespace

Result<DataTable> ReadRecordIo(const std::vector<NamedText>& files) {
  std::vector<RowBlock> blocks;
  for (const NamedText& file : files) {
    ASSIGN_OR_RETURN(RowBlock block, ReadFile(file));
    blocks.push_back(std::move(block));
  }
  return JoinBlocks(std::move(blocks), true);
}

}  // namespace sabia::algorithms
