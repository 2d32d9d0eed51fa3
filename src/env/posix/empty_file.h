// Writes into a file that is there and empty, which spares the file system a new one.
//
// Not atomic: a reader may see a part. Good where an empty file, or the beginning of a document,
// counts as none. Thread-safe.
#pragma once

#include <string_view>

#include "env/files.h"

namespace sabia::env {

// False, and nothing is written: there is no file, or it is not a regular and empty one.
Result<bool> FillEmptyFile(const Path& path, std::string_view content, Durability durability);

}  // namespace sabia::env
