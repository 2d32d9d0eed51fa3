#include "channels/checkpoint_order.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "channels/checkpoint_sets.h"

namespace sabia::channels {
namespace {

struct Span {
  std::int64_t first = 0;  // the times of its oldest and of its newest file
  std::int64_t last = 0;
};
using Checkpoints = std::map<std::string_view, Span>;

// By series; files that are in none are left out.
std::map<std::string, Checkpoints> SeriesIn(const std::vector<CheckpointFile>& files) {
  std::map<std::string, Checkpoints> out;
  for (const CheckpointFile& file : files) {
    const std::string series = SeriesOf(file.path);
    if (series.empty()) continue;
    const std::int64_t time = file.identity.modified_ns;
    Span& span = out[series].try_emplace(CheckpointOf(file.path), Span{time, time}).first->second;
    span.first = std::min(span.first, time);
    span.last = std::max(span.last, time);
  }
  return out;
}

}  // namespace

std::string_view CheckpointOf(std::string_view path) {
  const std::string_view set = SetOf(path);
  return set.empty() ? path : set;
}

std::vector<CheckpointFile> ByUrgency(const std::vector<CheckpointFile>& files) {
  std::map<std::string_view, std::int64_t> newest;
  for (const CheckpointFile& file : files) {
    std::int64_t& time = newest[SetOf(file.path)];
    time = std::max(time, file.identity.modified_ns);
  }
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  for (const auto& [set, time] : newest) {
    if (!set.empty()) order.emplace_back(-time, set);
  }
  std::sort(order.begin(), order.end());
  if (newest.contains("")) order.insert(order.begin() + (order.empty() ? 0 : 1), {0, ""});
  std::vector<CheckpointFile> out;
  for (const auto& [time, set] : order) {
    std::copy_if(files.begin(), files.end(), std::back_inserter(out),
                 [&](const CheckpointFile& file) { return SetOf(file.path) == set; });
  }
  return out;
}

std::set<std::string_view> Succeeded(const std::vector<CheckpointFile>& files) {
  std::set<std::string_view> out;
  for (const auto& [unused, checkpoints] : SeriesIn(files)) {
    std::int64_t latest = 0;
    for (const auto& [name, span] : checkpoints) latest = std::max(latest, span.first);
    for (const auto& [name, span] : checkpoints) {
      if (span.last < latest) out.insert(name);
    }
  }
  return out;
}

std::set<std::string_view> BeyondNewest(const std::vector<CheckpointFile>& files,
                                        std::size_t keep) {
  std::set<std::string_view> out;
  for (const auto& [unused, checkpoints] : SeriesIn(files)) {
    std::vector<std::pair<std::int64_t, std::string_view>> by_age;
    for (const auto& [name, span] : checkpoints) by_age.emplace_back(-span.last, name);
    std::sort(by_age.begin(), by_age.end());
    for (std::size_t i = keep; i < by_age.size(); ++i) out.insert(by_age[i].second);
  }
  return out;
}

}  // namespace sabia::channels
