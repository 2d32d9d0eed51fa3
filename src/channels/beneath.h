// Opening files below a directory that a hostile program writes to: no symbolic link is followed on
// the way, neither the last component nor any before it, and nothing outside the directory can be
// reached.
//
// Errors: kDenied when the path leads through a link, otherwise as errno says.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "env/files.h"
#include "env/posix/posix_files.h"

namespace sabia::channels {

// flags of open(2); O_CLOEXEC and O_NOFOLLOW are added. path: relative; "." is the directory
// itself.
Result<env::UniqueFd> OpenBeneath(int directory, const std::string& path, int flags,
                                  unsigned mode = 0);

// Whether the path is a directory, seen without following links.
bool IsRealDirectory(int directory, const std::string& path);

// "file", "directory", "symbolic link", "FIFO", "socket" or "device"
std::string_view KindOf(unsigned mode);

// The directory itself; nothing below it is looked at.
Result<env::UniqueFd> OpenDirectory(const env::Path& path);

// At most `limit` bytes from the start of a regular file.
Result<std::string> ReadBeneath(int directory, const std::string& path, std::size_t limit);

}  // namespace sabia::channels
