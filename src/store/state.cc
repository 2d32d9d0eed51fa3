#include "store/state.h"

#include <iterator>

#include "store/ledger.h"
#include "store/resources.h"
#include "store/retention.h"
#include "store/series.h"

namespace sabia::store {

Result<std::unique_ptr<Database>> OpenState(const Paths& paths) {
  // The version of the file is the number of steps taken: later steps of either part go to the end
  // of this list.
  std::vector<std::string> steps = Resources::Migrations();
  std::vector<std::string> series = Series::Migrations();
  std::move(series.begin(), series.end(), std::back_inserter(steps));
  std::vector<std::string> retention = Retention::Migrations();
  std::move(retention.begin(), retention.end(), std::back_inserter(steps));
  std::vector<std::string> ledger = Ledger::Migrations();
  std::move(ledger.begin(), ledger.end(), std::back_inserter(steps));
  return Database::Open({.path = paths.resources_db(), .migrations = std::move(steps)});
}

}  // namespace sabia::store
