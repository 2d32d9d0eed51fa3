#include "algorithms/data_table.h"

#include <algorithm>

namespace sabia::algorithms {
namespace {

template <typename T>
void Move(std::vector<T>* from, std::vector<T>* to) {
  to->insert(to->end(), from->begin(), from->end());
  std::vector<T>().swap(*from);
}

struct Totals {
  std::size_t rows = 0;
  std::size_t values = 0;
  std::size_t weights = 0;
  std::size_t queries = 0;
  std::size_t columns = 0;
};

Totals Count(const std::vector<RowBlock>& blocks) {
  Totals totals;
  for (const RowBlock& block : blocks) {
    totals.rows += block.labels.size();
    totals.values += block.values.size();
    totals.weights += block.weights.size();
    totals.queries += block.queries.size();
    totals.columns = std::max(totals.columns, block.columns);
  }
  return totals;
}

// Lengths of runs of equal ids: XGBoost wants the rows of a query side by side.
std::vector<std::uint32_t> RunLengths(const std::vector<std::uint64_t>& ids) {
  std::vector<std::uint32_t> lengths;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i == 0 || ids[i] != ids[i - 1]) lengths.push_back(0);
    ++lengths.back();
  }
  return lengths;
}

Status CheckAllOrNone(std::size_t some, std::size_t rows, const char* what) {
  if (some == 0 || some == rows) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} of {} rows have a {}, the others have none", some,
              rows, what);
}

// One side has what the other lacks.
bool Differ(bool a, bool b) { return a != b; }

}  // namespace

Status AppendRows(DataTable more, DataTable* table) {
  if (!more.sparse && more.columns != table->columns) {
    return Fail(ErrorCode::kInvalidArgument,
                "the channels differ in width: {} features in train, {} in validation",
                table->columns, more.columns);
  }
  if (Differ(more.weights.empty(), table->weights.empty()) ||
      Differ(more.groups.empty(), table->groups.empty())) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "one of the channels train and validation has weights or query ids, the other has none");
  }
  const std::uint64_t shift = table->values.size();
  for (std::size_t i = 1; i < more.offsets.size(); ++i)
    table->offsets.push_back(more.offsets[i] + shift);
  Move(&more.values, &table->values);
  Move(&more.indices, &table->indices);
  Move(&more.labels, &table->labels);
  Move(&more.weights, &table->weights);
  Move(&more.groups, &table->groups);
  table->rows += more.rows;
  table->columns = std::max(table->columns, more.columns);
  return {};
}

Result<DataTable> JoinBlocks(std::vector<RowBlock> blocks, bool sparse) {
  const Totals totals = Count(blocks);
  RETURN_IF_ERROR(CheckAllOrNone(totals.weights, totals.rows, "weight"));
  RETURN_IF_ERROR(CheckAllOrNone(totals.queries, totals.rows, "query id"));
  DataTable table;
  table.rows = totals.rows;
  table.columns = totals.columns;
  table.sparse = sparse;
  table.labels.reserve(totals.rows);
  table.weights.reserve(totals.weights);
  table.values.reserve(totals.values);
  table.indices.reserve(sparse ? totals.values : 0);
  if (sparse) {
    table.offsets.reserve(totals.rows + 1);
    table.offsets.push_back(0);
  }
  std::vector<std::uint64_t> queries;
  for (RowBlock& block : blocks) {
    if (!sparse && !block.labels.empty() && block.columns != totals.columns) {
      return Fail(ErrorCode::kInvalidArgument,
                  "rows have {} features in one place and {} in another", totals.columns,
                  block.columns);
    }
    for (const std::uint32_t size : block.row_sizes) {
      table.offsets.push_back(table.offsets.back() + size);
    }
    Move(&block.labels, &table.labels);
    Move(&block.weights, &table.weights);
    Move(&block.values, &table.values);
    Move(&block.indices, &table.indices);
    Move(&block.queries, &queries);
  }
  table.groups = RunLengths(queries);
  return table;
}

}  // namespace sabia::algorithms
