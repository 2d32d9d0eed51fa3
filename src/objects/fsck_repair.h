// The second half of fsck: puts right what was found (fsck.h).
//
// Threading: blocks. Errors: kCorrupt when the index itself is damaged and so decides nothing; a
// repair that fails leaves its finding unrepaired, with the reason in the finding's detail.
#pragma once

#include "objects/fsck.h"
#include "store/connection.h"

namespace sabia::objects {

struct RepairTools {
  const store::Paths& paths;
  store::Connection& connection;  // may write
  env::Clock& clock;
  env::Random& random;
};
Status Repair(const RepairTools& tools, FsckReport& report);

}  // namespace sabia::objects
