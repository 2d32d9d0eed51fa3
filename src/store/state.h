// Opens <home>/resources.db with the schema of everything that lives in it.
#pragma once

#include <memory>

#include "store/database.h"
#include "store/paths.h"

namespace sabia::store {

// Creates or migrates the file; the directory must exist. Errors: those of Database::Open.
Result<std::unique_ptr<Database>> OpenState(const Paths& paths);

}  // namespace sabia::store
