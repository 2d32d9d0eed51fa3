#include "model/warm_pool.h"

#include <algorithm>
#include <array>

#include "model/json_fields.h"

namespace sabia::model {
namespace {

constexpr std::array<std::pair<WarmPoolState, std::string_view>, 4> kStates = {{
    {WarmPoolState::kInUse, "InUse"},
    {WarmPoolState::kAvailable, "Available"},
    {WarmPoolState::kReused, "Reused"},
    {WarmPoolState::kTerminated, "Terminated"},
}};

}  // namespace

std::string_view Name(WarmPoolState state) { return NameOf(kStates, state); }

json::object WarmPool::ToJson() const {
  json::object out{{"state", Name(state)},
                   {"born", ToUnixMillis(born)},
                   {"taken_from", taken_from},
                   {"reused_by", reused_by}};
  AddTime(out, "retained_from", retained_from);
  AddTime(out, "retained_until", retained_until);
  AddTime(out, "updated", updated);
  return out;
}

Result<WarmPool> WarmPool::FromJson(const json::object& document) {
  WarmPool pool;
  FieldReader in(document);
  in.Enum("state", kStates, pool.state);
  in.Time("born", pool.born);
  in.Text("taken_from", pool.taken_from);
  in.Text("reused_by", pool.reused_by);
  in.OptionalTime("retained_from", pool.retained_from);
  in.OptionalTime("retained_until", pool.retained_until);
  in.OptionalTime("updated", pool.updated);
  RETURN_IF_ERROR(in.status());
  return pool;
}

Seconds RetainedTime(const WarmPool& pool, WallTime now) {
  if (!pool.retained_from) return Seconds(0);
  const WallTime until = pool.retained_until.value_or(now);
  return std::chrono::floor<Seconds>(std::max(Millis(0), until - *pool.retained_from));
}

WallTime ExpiryOf(const WarmPool& pool, Seconds keep_alive) {
  const WallTime life_ends = std::max(pool.born + kWarmPoolLifeMax, *pool.retained_from);
  const WallTime asked = *pool.retained_from + keep_alive;
  return std::min(std::max(asked, pool.updated.value_or(asked)), life_ends);
}

}  // namespace sabia::model
