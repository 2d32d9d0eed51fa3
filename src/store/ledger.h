// The ledger: what instances were used for, and at which price; append-only.
//
// A line is written in the transaction that ends the use (store::Change::ledger), so it is there
// exactly when the record says that the use has ended, whatever dies in between. The key, instance
// and kind, is unique: a line that is there already stays as it is, and the second is dropped.
// Nothing changes or removes a line; it outlives its job, and so do the tags that are copied into
// it.
//
// Threading: thread-safe. Errors: those of Database.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ledger_entry.h"
#include "store/database.h"

namespace sabia::store {

class Ledger {
 public:
  explicit Ledger(Database& database) : database_(database) {}
  static std::vector<std::string> Migrations();
  // Part of the caller's transaction. The line's tags are those that its job has by now.
  static Status Append(Connection& connection, const model::LedgerEntry& entry);

  using Visitor = std::function<void(model::LedgerEntry)>;
  // Lines of which a part, waiting included, lies in [from, to); by their ends, from one snapshot.
  // The visitor must be quick and must not write.
  Status Visit(WallTime from, WallTime to, const Visitor& visitor);
  // Those of one job, by its uid.
  Result<std::vector<model::LedgerEntry>> OfJob(std::string_view uid);

 private:
  Database& database_;
};

}  // namespace sabia::store
