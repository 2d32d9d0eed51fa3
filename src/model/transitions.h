// Transition tables as constexpr data, with the checks that every table must pass.
#pragma once

#include <array>
#include <cstddef>

namespace sabia::model {

template <typename State>
struct Edge {
  State from;
  State to;
};
template <typename State>
Edge(State, State) -> Edge<State>;  // clang 14 deduces nothing from aggregates

template <typename Table, typename State>
constexpr bool HasExit(const Table& table, State state) {
  for (const auto& edge : table) {
    if (edge.from == state) return true;
  }
  return false;
}

template <typename Table, typename State>
constexpr bool IsLegal(const Table& table, State from, State to) {
  for (const auto& edge : table) {
    if (edge.from == from && edge.to == to) return true;
  }
  return false;
}

// Which states can be reached from `start` in any number of steps, by number (enumerators are
// consecutive from 0).
inline constexpr std::size_t kStatesMax = 64;
template <typename Table, typename State>
constexpr std::array<bool, kStatesMax> ReachableFrom(const Table& table, State start) {
  std::array<bool, kStatesMax> seen = {};
  seen[static_cast<std::size_t>(start)] = true;
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& edge : table) {
      const auto to = static_cast<std::size_t>(edge.to);
      if (!seen[static_cast<std::size_t>(edge.from)] || seen[to]) continue;
      seen[to] = grows = true;
    }
  }
  return seen;
}

// Whether every state up to `last` can be reached from `start`.
template <typename Table, typename State>
constexpr bool AllReachable(const Table& table, State start, State last) {
  const auto seen = ReachableFrom(table, start);
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
    if (!seen[i]) return false;
  }
  return true;
}

}  // namespace sabia::model
