// What the kernel may ask of a mount. Private to fuse_mount.cc.
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

namespace sabia::fastfile {

// Their user data is the FuseMount.
const fuse_lowlevel_ops& FuseOperations();

}  // namespace sabia::fastfile
