// The files of a channel: the first byte chooses the format (c csv, w csv with weights, l libsvm, r
// RecordIO-protobuf, k a checkpoint, h hyperparameters), the rest is the file. A table that is
// accepted is consistent: XGBoost gets raw pointers into it.
#include <cstdint>
#include <string>
#include <string_view>

#include "algorithms/checkpoints.h"
#include "algorithms/csv_reader.h"
#include "algorithms/hyperparameters.h"
#include "algorithms/libsvm_reader.h"
#include "algorithms/recordio_reader.h"
#include "base/check.h"
#include "base/json.h"

namespace sabia::algorithms {
namespace {

void CheckTable(const DataTable& table) {
  CHECK(table.labels.size() == table.rows);
  CHECK(table.weights.empty() || table.weights.size() == table.rows);
  std::size_t grouped = 0;
  for (const std::uint32_t size : table.groups) grouped += size;
  CHECK(table.groups.empty() || grouped == table.rows);
  if (!table.sparse) {
    CHECK(table.values.size() == table.rows * table.columns);
    return;
  }
  CHECK(table.offsets.size() == table.rows + 1);
  CHECK(table.offsets.back() == table.values.size() && table.indices.size() == table.values.size());
  for (const std::uint32_t index : table.indices) CHECK(index < table.columns);
}

Result<DataTable> Read(char format, std::string_view text) {
  const std::vector<NamedText> texts = {{"fuzz", text}};
  if (format == 'l') return ReadLibsvm(texts, {});
  if (format == 'r') return ReadRecordIo(texts);
  ASSIGN_OR_RETURN(const char delimiter, SniffDelimiter(text.substr(0, text.find('\n'))));
  return ReadCsv(texts, delimiter, {.weights = format == 'w'});
}

void Check(char format, std::string_view text) {
  if (format == 'k') {
    const auto model = UnsealCheckpoint(text);
    if (model) CHECK(SealCheckpoint(*model) == text);
  } else if (format == 'h') {
    const auto document = ParseJsonObject(text);
    if (!document) return;
    const auto values = ReadHyperparameters(*document);
    if (values) CHECK(values->num_round >= 1);
  } else if (const auto table = Read(format, text)) {
    CheckTable(*table);
  }
}

}  // namespace
}  // namespace sabia::algorithms

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  sabia::algorithms::Check(input[0], input.substr(1));
  return 0;
}
