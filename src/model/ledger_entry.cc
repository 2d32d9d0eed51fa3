#include "model/ledger_entry.h"

#include <array>

#include "model/json_fields.h"

namespace sabia::model {
namespace {

constexpr std::array<std::pair<LedgerKind, std::string_view>, 4> kKinds = {{
    {LedgerKind::kOnDemand, "on-demand"},
    {LedgerKind::kSpot, "spot"},
    {LedgerKind::kWarmPool, "warm-pool"},
    {LedgerKind::kWaiting, "waiting"},
}};

}  // namespace

std::string_view Name(LedgerKind kind) { return NameOf(kKinds, kind); }

}  // namespace sabia::model
