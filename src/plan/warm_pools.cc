#include "plan/warm_pools.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/progress.h"

namespace sabia::plan {
namespace {

using model::TrainingJob;
using model::TrainingPhase;
using model::WarmPool;
using model::WarmPoolState;

std::string TextOf(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  if (value == nullptr || value->is_null()) return "";
  return value->is_string() ? std::string(value->get_string()) : json::serialize(*value);
}

// The order in which security groups and subnets are named means nothing.
std::string SortedText(const json::object& object, std::string_view member) {
  const json::array* list = FindArray(object, member);
  if (list == nullptr) return "";
  std::vector<std::string> texts;
  for (const json::value& item : *list) texts.push_back(json::serialize(item));
  std::sort(texts.begin(), texts.end());
  return fmt::format("{}", fmt::join(texts, ", "));
}

void Say(TrainingJob& job, std::string message) {
  if (!job.transitions.empty()) job.transitions.back().message = std::move(message);
}

// The last whole second of retention, never before the first.
WallTime WholeSeconds(const WarmPool& pool, WallTime until) {
  return std::max<WallTime>(*pool.retained_from, std::chrono::floor<Seconds>(until));
}

bool AllStay(const TrainingSnapshot& seen) {
  return !seen.instances.empty() &&
         std::all_of(seen.instances.begin(), seen.instances.end(), [](const InstanceView& host) {
           return host.alive && Done(host) && host.report->stays;
         });
}

bool MayKeep(const TrainingJob& job) {
  if (job.KeepAlive() == Seconds(0) || job.IsSpot() || job.attempts.empty()) return false;
  return job.phase != TrainingPhase::kFailed || !job.failure_is_ours;
}

Record EndPool(const TrainingSnapshot& seen, WallTime until, std::string message) {
  Record record{seen.job};
  WarmPool& pool = *record.job.warm_pool;
  pool.state = WarmPoolState::kTerminated;
  pool.retained_until = WholeSeconds(pool, until);
  Say(record.job, std::move(message));
  record.give_back = true;
  return record;
}

}  // namespace

PoolKeys PoolKeysOf(const TrainingJob& job) {
  static const json::object kNone;
  const json::object& request = job.request;
  const json::object* resources = FindObject(request, "ResourceConfig");
  const json::object* vpc = FindObject(request, "VpcConfig");
  const json::object& wants = resources == nullptr ? kNone : *resources;
  const json::object& network = vpc == nullptr ? kNone : *vpc;
  const auto flag = [&](std::string_view member) {
    return std::string(GetBool(request, member) ? "true" : "false");
  };
  return {TextOf(request, "RoleArn"),      TextOf(wants, "InstanceCount"),
          TextOf(wants, "InstanceType"),   TextOf(wants, "VolumeSizeInGB"),
          TextOf(wants, "VolumeKmsKeyId"), SortedText(network, "SecurityGroupIds"),
          SortedText(network, "Subnets"),  flag("EnableInterContainerTrafficEncryption"),
          flag("EnableNetworkIsolation")};
}

bool MayUsePools(const TrainingJob& job) { return !job.IsSpot(); }

std::vector<std::string> Differences(const PoolKeys& there, const PoolKeys& here) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kPoolKeyNames.size(); ++i) {
    if (there[i] != here[i])
      out.push_back(fmt::format("{} ('{}' there, '{}' here)", kPoolKeyNames[i], there[i], here[i]));
  }
  return out;
}

void LeavePool(TrainingJob& job) {
  if (job.warm_pool && job.warm_pool->state == WarmPoolState::kInUse)
    job.warm_pool->state = WarmPoolState::kTerminated;
}

void KeepOrEndPool(const TrainingSnapshot& seen, Record& record) {
  TrainingJob& job = record.job;
  const auto end = [&] {
    LeavePool(job);
    record.give_back = true;
  };
  if (!MayKeep(job) || !AllStay(seen)) return end();
  const model::Attempt& attempt = job.attempts.back();
  const WallTime ended = attempt.ended.value_or(seen.now);
  const bool reused = job.warm_pool && job.warm_pool->state == WarmPoolState::kInUse;
  WarmPool pool = reused ? *job.warm_pool : WarmPool{.born = attempt.launched};
  if (ended >= pool.born + model::kWarmPoolLifeMax) return end();
  pool.state = WarmPoolState::kAvailable;
  pool.retained_from = std::chrono::ceil<Seconds>(ended);
  pool.retained_until.reset();
  pool.updated.reset();
  job.warm_pool = std::move(pool);
  Say(job, "Resource retained for reuse");
  record.give_back = false;
}

std::optional<Action> StepPool(const TrainingSnapshot& seen) {
  const WallTime expiry = *PoolDue(seen.job);
  if (seen.now >= expiry)
    return EndPool(seen, expiry, "Resource released due to keep alive period expiry");
  if (!AllStay(seen)) {
    WallTime last = seen.now;
    for (const InstanceView& host : seen.instances) {
      if (!host.alive) last = std::min(last, host.last_seen.value_or(seen.now));
    }
    return EndPool(seen, last, "Resource released: an instance of the warm pool was lost");
  }
  if (seen.pool_wanted)
    return EndPool(seen, seen.now, "Resource released: a waiting training job needs the capacity");
  return std::nullopt;
}

std::optional<WallTime> PoolDue(const TrainingJob& job) {
  if (!model::HoldsPool(job)) return std::nullopt;
  return model::ExpiryOf(*job.warm_pool, job.KeepAlive());
}

void TakePool(const PoolOffer& offer, Record& record) {
  TrainingJob& job = record.job;
  const WallTime taken = job.attempts.back().launched;
  TrainingJob from = offer.job;
  WarmPool& pool = *from.warm_pool;
  pool.state = WarmPoolState::kReused;
  pool.reused_by = job.name;
  pool.retained_until = WholeSeconds(pool, std::min(taken, *PoolDue(offer.job)));
  from.modified = std::max(from.modified, taken);
  Say(from, "Resource reused by training job: " + job.name);
  job.warm_pool = WarmPool{.born = pool.born, .taken_from = from.name};
  for (model::InstanceRecord& lease : record.lease) {
    const auto same = std::find_if(offer.leases.begin(), offer.leases.end(),
                                   [&](const auto& left) { return left.number == lease.number; });
    if (same != offer.leases.end()) lease.predecessor = same->id;
  }
  record.pool_of = std::move(from);
}

}  // namespace sabia::plan
