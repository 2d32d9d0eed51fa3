// RecordIO-protobuf, the binary format of the SageMaker built-in algorithms: frames of RecordIO,
// each one a Record of aialgs.data with a tensor "values" among its features and its labels.
//
// A frame is a little-endian 0xced7230a, a length (29 bits; the upper 3 say whether a record goes
// on in the next frame), the bytes and zeros up to a multiple of 4. Tensors of float32, float64 and
// int32 are read, dense or sparse (keys); in a dense record NaN is a missing value. Pure; any
// thread. Errors: kInvalidArgument, with file and record.
#pragma once

#include <vector>

#include "algorithms/data_table.h"
#include "algorithms/text_blocks.h"
#include "base/result.h"

namespace sabia::algorithms {

Result<DataTable> ReadRecordIo(const std::vector<NamedText>& files);

}  // namespace sabia::algorithms
