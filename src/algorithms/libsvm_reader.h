// libsvm text: "label[:weight] [qid:n] index:value …", "#" starts a comment. Indices are used as
// they are given.
//
// Anything else is an error that names file and line; a first line that is no libsvm at all gets
// the image's text. Pure; any thread.
#pragma once

#include <vector>

#include "algorithms/data_table.h"
#include "algorithms/text_blocks.h"
#include "base/result.h"

namespace sabia::algorithms {

struct LibsvmOptions {
  bool labels = true;  // false for rows to predict: a line starts with its first feature
  int threads = 1;
};

Result<DataTable> ReadLibsvm(const std::vector<NamedText>& texts, LibsvmOptions options);

}  // namespace sabia::algorithms
