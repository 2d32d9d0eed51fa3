// tar.gz archives of directories, made and unpacked in process, in constant memory.
//
// PackTrees is deterministic in its order (bytewise by path) and in its headers (owner 0, times
// kept), so that the same content gives the same member list. Sockets, FIFOs and devices are
// skipped. Unpacking trusts nothing: a member that is absolute, has "..", passes through a symbolic
// link, or is a device refuses the archive.
//
// Threading: any thread. Errors: kConflict when two trees hold the same file, kInvalidArgument for
// a bad archive, kResourceExhausted, kIo, kTimeout when `cancelled` turned true.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "channels/local_view.h"
#include "env/files.h"

namespace sabia::channels {

struct TreeFile {
  std::string path;  // relative to its tree
  env::Path source;  // absolute
  std::uint64_t size = 0;
  char type = 'f';  // 'f' file, 'd' directory, 'l' symbolic link
};

// All entries of the trees in one order; a missing tree is empty. Directories of the same name
// merge, any other clash is kConflict and names the path. Links are not followed. left_out: what is
// none of the three kinds, "ctl (FIFO)".
Result<std::vector<TreeFile>> MergeTrees(const std::vector<env::Path>& roots,
                                         std::vector<std::string>* left_out = nullptr);

// level: of gzip, 1 (fast) to 9.
Status PackTar(const std::vector<TreeFile>& entries, const env::Path& target, int level,
               const Cancelled& cancelled);

struct UnpackLimits {
  std::uint64_t bytes_max = std::uint64_t{16} << 30;
  std::uint64_t entries_max = 1'000'000;
};
// tar with any compression that libarchive knows, or zip.
Status UnpackArchive(const env::Path& archive, const env::Path& target, UnpackLimits limits);

}  // namespace sabia::channels
