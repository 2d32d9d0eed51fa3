// CSV without a header: the label first, with weights the weight second, then the features.
//
// An empty field is a missing value; "nan" is one too. A field that is no number, or a row of
// another width than the first, is an error that names file, line and column: the image takes a
// word for 0 and a short row as it is, which has cost many an evening. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "algorithms/data_table.h"
#include "algorithms/text_blocks.h"
#include "base/result.h"

namespace sabia::algorithms {

struct CsvOptions {
  bool labels = true;    // false for rows to predict
  bool weights = false;  // in the second column
  int threads = 1;
};

// The separator of the first line: the candidate among , TAB ; blank : | that cuts it into the most
// numbers. kInvalidArgument: "Could not determine delimiter on line …".
Result<char> SniffDelimiter(std::string_view line);

Result<DataTable> ReadCsv(const std::vector<NamedText>& texts, char delimiter, CsvOptions options);

}  // namespace sabia::algorithms
