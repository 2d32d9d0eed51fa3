// The mounts that a view of data needs, as thin wrappers of the kernel's calls.
//
// All mounts live in a private mount namespace, entered once by the process: when the process dies,
// however it dies, they are gone. An unprivileged process gets a user namespace as well, in which
// it is root over its own files only.
//
// Errors: kDenied when the kernel forbids it (containers, AppArmor), otherwise as errno says.
#pragma once

#include "base/result.h"
#include "env/files.h"

namespace sabia::channels {

// REQUIRES: the process has one thread. After success, mounts made by the process are invisible
// outside.
Status EnterMountNamespace();

struct OverlayDirs {
  env::Path lower;   // never written
  env::Path upper;   // takes the changes; same file system as work
  env::Path work;    // empty
  env::Path target;  // where the merged tree appears
};
// Without syncs (the "volatile" option): the upper layer is scratch and does not outlive the
// machine.
Status MountOverlay(const OverlayDirs& dirs);

// An empty directory in memory over the target.
Status MountTmpfs(const env::Path& target);

// The source tree, with what is mounted in it, at the target as well.
Status Bind(const env::Path& source, const env::Path& target);

// Detaches; a target that is no mount is success.
Status Unmount(const env::Path& target);

}  // namespace sabia::channels
