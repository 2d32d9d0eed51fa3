#include "fleet/capacity.h"

#include <fmt/format.h>

#include <algorithm>

namespace sabia::fleet {
namespace {

// Positions farther back are not counted: telling them all would cost more than they are worth.
constexpr std::size_t kPositionsTold = 100;
// Sums of doubles such as 0.1 may miss the limit by a rounding error.
constexpr double kVcpuTolerance = 1e-6;

}  // namespace

Capacity::Capacity(MachineSize machine, CapacityOptions options)
    : machine_(machine),
      options_(options),
      vcpus_(machine.vcpus * options.overcommit),
      memory_bytes_(static_cast<std::int64_t>(static_cast<double>(machine.memory_bytes) *
                                              options.overcommit)) {}

void Capacity::Enqueue(Ticket ticket) {
  if (Holds(ticket.job) || Waits(ticket.job)) return;
  Place place{ticket.created, ticket.job};
  places_.emplace(ticket.job, place);
  queue_.emplace(std::move(place), std::move(ticket));
}

void Capacity::Adopt(Ticket ticket) {
  if (Holds(ticket.job)) return;
  Release(ticket.job);
  used_vcpus_ += ticket.vcpus;
  used_memory_ += ticket.memory_bytes;
  std::string job = ticket.job;
  leases_.emplace(std::move(job), std::move(ticket));
}

void Capacity::Release(std::string_view job) {
  if (const auto place = places_.find(job); place != places_.end()) {
    queue_.erase(place->second);
    places_.erase(place);
  }
  const auto lease = leases_.find(job);
  if (lease == leases_.end()) return;
  used_vcpus_ -= lease->second.vcpus;
  used_memory_ -= lease->second.memory_bytes;
  leases_.erase(lease);
  if (leases_.empty()) used_vcpus_ = 0;  // no drift
}

bool Capacity::Fits(const Ticket& ticket, const std::set<std::string>& without) const {
  if (vcpus_ <= 0) return false;
  double vcpus = used_vcpus_;
  std::int64_t memory = used_memory_;
  std::size_t leases = leases_.size();
  for (const std::string& job : without) {
    const auto lease = leases_.find(job);
    if (lease == leases_.end()) continue;
    vcpus -= lease->second.vcpus;
    memory -= lease->second.memory_bytes;
    --leases;
  }
  if (ticket.alone) return leases == 0;
  return vcpus + ticket.vcpus <= vcpus_ + kVcpuTolerance &&
         memory + ticket.memory_bytes <= memory_bytes_;
}

const std::string& Capacity::Next() const {
  static const std::string kNobody;
  return queue_.empty() ? kNobody : queue_.begin()->second.job;
}

bool Capacity::NextFits(const std::set<std::string>& without) const {
  return !queue_.empty() && Fits(queue_.begin()->second, without);
}

void Capacity::AdmitNext() { Adopt(Ticket(queue_.begin()->second)); }

void Capacity::HandOver(std::string_view from, Ticket to) {
  Release(from);
  Adopt(std::move(to));
}

const Capacity::Ticket& Capacity::Waiting(std::string_view job) const {
  return queue_.at(places_.find(job)->second);
}

const Capacity::Ticket& Capacity::Lease(std::string_view job) const {
  return leases_.find(job)->second;
}

std::vector<std::string> Capacity::Admit() {
  std::vector<std::string> admitted;
  while (NextFits()) {
    admitted.push_back(Next());
    AdmitNext();
  }
  return admitted;
}

std::string Capacity::WaitReason(std::string_view job) const {
  const auto place = places_.find(job);
  if (place == places_.end()) return "";
  std::size_t before = 0;
  for (auto it = queue_.begin(); it->first != place->second && before <= kPositionsTold; ++it)
    ++before;
  const std::string position = before == 0 ? "it is next in the queue"
                               : before > kPositionsTold
                                   ? fmt::format("more than {} jobs wait before it", kPositionsTold)
                                   : fmt::format("{} job{} wait{} before it", before,
                                                 before == 1 ? "" : "s", before == 1 ? "s" : "");
  if (vcpus_ <= 0) return "this machine offers nothing at present; " + position;
  const Ticket& ticket = queue_.at(place->second);
  const std::string needs =
      ticket.alone ? "the whole machine" : SizeText(ticket.vcpus, ticket.memory_bytes);
  return fmt::format("it needs {}; in use are {} of {}; {}", needs,
                     SizeText(used_vcpus_, used_memory_), SizeText(vcpus_, memory_bytes_),
                     position);
}

std::vector<std::string> Capacity::Head(std::size_t limit) const {
  std::vector<std::string> head;
  for (const auto& [place, ticket] : queue_) {
    if (head.size() == limit) break;
    head.push_back(ticket.job);
  }
  return head;
}

}  // namespace sabia::fleet
