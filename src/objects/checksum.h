// The checksums of wire/checksum.h under the names that this folder uses.
#pragma once

#include "wire/checksum.h"

namespace sabia::objects {

using wire::ChecksumAlgorithm;
using wire::ChecksumSize;
using wire::CombineCrc;
using wire::Hasher;
using wire::IsCrc;
using wire::Name;
using wire::NewHasher;
using wire::NewMd5;
using wire::ParseChecksumAlgorithm;

}  // namespace sabia::objects
