// Small whole-file operations, durable where they say so.
//
// A path is a std::filesystem::path that our own code built; user strings never become path
// components unchecked. Errors: kNotFound, kAlreadyExists, kDenied, kResourceExhausted (disk full),
// kIo. Blocking; thread-safe. Not here: bulk data (objects/, channels/), which streams through
// descriptors.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::env {

using Path = std::filesystem::path;

enum class Durability {
  kDurable,   // the file and its directory entry are synced before the call returns
  kVolatile,  // atomic for readers, but power loss may undo it
};

struct WriteOptions {
  unsigned mode = 0644;
  Durability durability = Durability::kDurable;
};

class Files {
 public:
  virtual ~Files() = default;

  // The whole content; kResourceExhausted when it is longer than limit.
  virtual Result<std::string> Read(const Path& path, std::size_t limit = 64 << 20) = 0;
  // Readers see the old content or the new, never a mixture (temporary file, then rename).
  virtual Status WriteAtomically(const Path& path, std::string_view content,
                                 WriteOptions options) = 0;
  // Creates the directory and its parents; an existing one is success.
  virtual Status MakeDirectories(const Path& path) = 0;
  // Removes a file or a whole tree; a missing one is success. Never follows symbolic links.
  virtual Status RemoveTree(const Path& path) = 0;
  virtual Result<bool> Exists(const Path& path) = 0;
  // Names (not paths) in the directory, sorted; kNotFound when there is no directory.
  virtual Result<std::vector<std::string>> List(const Path& path) = 0;
};

}  // namespace sabia::env
