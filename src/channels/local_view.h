// Makes the objects of a listing appear as files below a directory: hard links where the file
// system allows it, and copies (reflinks first) otherwise.
//
// Hard links share the stored object's inode, so nobody may write through them: a program sees them
// through an overlay (mounts.h) or a read-only bind. Where neither exists, callers ask for copies.
//
// Threading: any thread, one call per directory. Errors: kNotFound when an object's file is gone,
// kIo, kResourceExhausted, kTimeout when `cancelled` turned true.
#pragma once

#include <functional>
#include <span>

#include "channels/listing.h"

namespace sabia::channels {

enum class LinkMode { kHardLink, kCopy };

struct ViewStats {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t copied = 0;  // files that could not be linked, or were asked to be copied
};

using Cancelled = std::function<bool()>;

// Only local objects; the others are skipped. `root` exists.
Result<ViewStats> BuildView(std::span<const ListedObject> objects, const env::Path& root,
                            LinkMode mode, const Cancelled& cancelled);

// The content of a regular file: reflink, else copy_file_range, else read and write. The target is
// new, mode 0644.
Status CopyFile(const env::Path& source, const env::Path& target);

// Creates the directories of a relative path's parents below root.
Status MakeParents(const env::Path& root, const std::string& path);

}  // namespace sabia::channels
