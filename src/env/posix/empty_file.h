// Writes into a file that is there and empty, which spares the file system a new one.
//
// Empty is also a file of one byte, to which a used one is cut: ext4 takes the blocks of a file
// that is cut to nothing, and writes out at once what is written to it next. Not atomic: a reader
// may see a part. Good where an empty file, or the beginning of a document, counts as none.
// Thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

#include "env/files.h"

namespace sabia::env {

inline constexpr std::size_t kEmptyFileMax = 1;

// False, and nothing is written: there is no file, or it is not a regular and empty one.
Result<bool> FillEmptyFile(const Path& path, std::string_view content, Durability durability);

}  // namespace sabia::env
