#include "api/usage.h"

#include "cost/job_cost.h"
#include "store/training_job_row.h"

namespace sabia::api {
namespace {

// Uses of live jobs: those that have ended are in the ledger already, and drop out as second ones.
Status AddOpen(const UsageParts& parts, const cost::Period& period, WallTime now,
               std::vector<model::LedgerEntry>& out) {
  ASSIGN_OR_RETURN(const auto rows, parts.resources.Live(store::Kind::kTrainingJob));
  for (const store::Resource& row : rows) {
    ASSIGN_OR_RETURN(const model::TrainingJob job, store::TrainingJobOf(row));
    std::optional<store::Tags> tags;
    for (model::LedgerEntry& entry : cost::EntriesOfJob(parts.prices, job, now)) {
      if (entry.end <= period.from || entry.waited_from >= period.to) continue;
      if (!tags) {
        ASSIGN_OR_RETURN(tags, parts.resources.GetTags(job.arn));
      }
      entry.tags = *tags;
      out.push_back(std::move(entry));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<model::LedgerEntry>> ReadUsage(const UsageParts& parts,
                                                  const cost::Period& period, WallTime now) {
  // First what is open: a use that ends between the two reads is then in both, not in neither.
  std::vector<model::LedgerEntry> open;
  RETURN_IF_ERROR(AddOpen(parts, period, now, open));
  std::vector<model::LedgerEntry> ended;
  RETURN_IF_ERROR(parts.ledger.Visit(period.from, period.to, [&](model::LedgerEntry entry) {
    ended.push_back(std::move(entry));
  }));
  return cost::MergeEntries(std::move(ended), std::move(open));
}

}  // namespace sabia::api
