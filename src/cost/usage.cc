#include "cost/usage.h"

#include <algorithm>

#include "cost/billing.h"

namespace sabia::cost {

Usage UsageWithin(const model::LedgerEntry& entry, const Period& period) {
  return {TimeWithin(entry, period.from, period.to), CostWithin(entry, period.from, period.to)};
}

void UsageByKind::Add(const model::LedgerEntry& entry, const Period& period) {
  const WallTime waited_from = std::clamp(period.from, entry.waited_from, entry.start);
  waiting.time += std::clamp(period.to, waited_from, entry.start) - waited_from;
  switch (entry.kind) {
    case model::LedgerKind::kWaiting:
      return;
    case model::LedgerKind::kOnDemand:
      on_demand += UsageWithin(entry, period);
      break;
    case model::LedgerKind::kSpot:
      spot += UsageWithin(entry, period);
      break;
    case model::LedgerKind::kWarmPool:
      warm_pool += UsageWithin(entry, period);
      break;
  }
  if (!entry.lost_from) return;
  const WallTime lost_from = std::max(period.from, *entry.lost_from);
  lost += UsageWithin(entry, {lost_from, std::max(period.to, lost_from)});
}

}  // namespace sabia::cost
