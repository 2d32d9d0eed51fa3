#include "plan/host_orders.h"

#include <algorithm>

#include "plan/progress.h"

namespace sabia::plan {
namespace {

bool SameOrders(const model::Orders& a, const model::Orders& b) { return a.ToJson() == b.ToJson(); }

bool StillRuns(const InstanceView& host, const TrainingRules& rules) {
  return !Exited(host) && !Ended(host, rules);
}

model::Orders Wanted(const InstanceView& host, const TrainingRules& rules, const HostWish& wish) {
  model::Orders orders = host.orders;
  // A stop that is asked for during a spot notice saves the artifacts as well, in the time left.
  const bool keeps_more =
      orders.stop == model::StopReason::kInterrupted &&
      (wish.stop == model::StopReason::kRequested || wish.stop == model::StopReason::kMaxWait);
  if (wish.stop != model::StopReason::kNone && StillRuns(host, rules) &&
      (orders.stop == model::StopReason::kNone || keeps_more)) {
    orders.stop = wish.stop;
    orders.kill_at = wish.kill_at;
  }
  return orders;
}

void GatherArtifacts(const std::vector<InstanceView>& hosts, model::Orders& first) {
  first.upload = true;
  first.merge_from.clear();
  for (auto host = std::next(hosts.begin()); host != hosts.end(); ++host) {
    if (Trained(*host)) first.merge_from.push_back(host->record.id);
  }
}

}  // namespace

std::optional<Action> DirectHosts(const TrainingSnapshot& seen, const TrainingRules& rules,
                                  const HostWish& wish) {
  const auto& hosts = seen.instances;
  if (hosts.empty()) return std::nullopt;
  const bool all_exited = std::none_of(hosts.begin(), hosts.end(),
                                       [&](const auto& host) { return StillRuns(host, rules); });
  const bool gang = hosts.size() > 1;
  const InstanceView& first = hosts.front();
  const bool first_uploads = wish.artifacts && !Ended(first, rules) && Trained(first);
  Order order;
  for (const InstanceView& host : hosts) {
    if (Ended(host, rules)) continue;
    model::Orders wanted = Wanted(host, rules, wish);
    if (gang && all_exited) {
      if (first_uploads && &host == &first) {
        GatherArtifacts(hosts, wanted);
      } else if (!first_uploads) {
        wanted.dismiss = true;
      }
    }
    if (!SameOrders(wanted, host.orders)) order.orders.emplace(host.record.id, std::move(wanted));
  }
  if (order.orders.empty()) return std::nullopt;
  return order;
}

WallTime KillTime(const model::TrainingJob& job, const TrainingRules& rules) {
  return job.reclaim_at.value_or(job.modified + rules.stop_grace) + rules.kill_slack;
}

std::optional<Action> KillOverdue(const TrainingSnapshot& seen, const TrainingRules& rules) {
  if (seen.now < KillTime(seen.job, rules)) return std::nullopt;
  Kill kill;
  for (const InstanceView& host : seen.instances) {
    if (host.alive && !host.killed && !Exited(host)) kill.ids.push_back(host.record.id);
  }
  if (kill.ids.empty()) return std::nullopt;
  return kill;
}

}  // namespace sabia::plan
