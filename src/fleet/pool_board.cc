#include "fleet/pool_board.h"

#include <fmt/format.h>

#include <algorithm>

namespace sabia::fleet {
namespace {

// With more differences it is another kind of job, not a near miss.
constexpr std::size_t kDifferencesMax = 3;

}  // namespace

void PoolBoard::Offer(const std::string& job, plan::PoolKeys keys, WallTime since) {
  pools_.try_emplace(job, Pool{std::move(keys), since});
}

void PoolBoard::Withdraw(const std::string& job) { pools_.erase(job); }

std::optional<std::string> PoolBoard::Match(const plan::PoolKeys& keys) const {
  const std::pair<const std::string, Pool>* best = nullptr;
  for (const auto& entry : pools_) {
    if (entry.second.keys != keys) continue;
    if (best == nullptr || entry.second.since < best->second.since) best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  return best->first;
}

std::string PoolBoard::NearMiss(const plan::PoolKeys& keys) const {
  const std::string* nearest = nullptr;
  std::vector<std::string> fewest;
  for (const auto& [job, pool] : pools_) {
    std::vector<std::string> differences = plan::Differences(pool.keys, keys);
    if (differences.empty() || differences.size() > kDifferencesMax) continue;
    if (nearest != nullptr && fewest.size() <= differences.size()) continue;
    nearest = &job;
    fewest = std::move(differences);
  }
  if (nearest == nullptr) return "";
  return fmt::format("started without a warm pool: the one of training job '{}' differs in {}",
                     *nearest, fmt::join(fewest, ", "));
}

std::vector<std::string> PoolBoard::OldestFirst() const {
  std::vector<std::pair<WallTime, std::string>> order;
  for (const auto& [job, pool] : pools_) order.emplace_back(pool.since, job);
  std::sort(order.begin(), order.end());
  std::vector<std::string> out;
  for (auto& [since, job] : order) out.push_back(std::move(job));
  return out;
}

}  // namespace sabia::fleet
