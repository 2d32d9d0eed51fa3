// The rows of a channel in memory: labels, weights, query groups and features, dense (csv) or
// sparse (libsvm).
//
// A missing feature of a dense table is NaN. Pure values; thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace sabia::algorithms {

struct DataTable {
  std::size_t rows = 0;
  std::size_t columns = 0;
  bool sparse = false;
  std::vector<float> values;           // dense: rows * columns, row by row; sparse: as offsets say
  std::vector<std::uint64_t> offsets;  // sparse: rows + 1
  std::vector<std::uint32_t> indices;  // sparse: the column of each value
  std::vector<float> labels;
  std::vector<float> weights;         // empty when no row has one
  std::vector<std::uint32_t> groups;  // sizes of runs of equal query ids; empty when there are none
};

// Rows that one parser read from one block of text; a table is many of them in order.
struct RowBlock {
  std::size_t columns = 0;  // largest seen
  std::vector<float> values;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> row_sizes;
  std::vector<float> labels;
  std::vector<float> weights;          // one per row, or none
  std::vector<std::uint64_t> queries;  // one per row, or none
};

// Takes the blocks apart one by one, so that little more than one copy is in memory at a time.
// Errors: kInvalidArgument when some rows have weights or query ids and others do not, or dense
// rows differ in width.
Result<DataTable> JoinBlocks(std::vector<RowBlock> blocks, bool sparse);

// Puts the rows of `more` behind those of `table`. REQUIRES: the same format. kInvalidArgument as
// above.
Status AppendRows(DataTable more, DataTable* table);

}  // namespace sabia::algorithms
