// Transition tables as constexpr data, with the checks that every table must pass.
#pragma once

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

// Whether every state up to `last` (enumerators are consecutive from 0) can be reached from
// `start`.
template <typename Table, typename State>
constexpr bool AllReachable(const Table& table, State start, State last) {
  constexpr std::size_t kStatesMax = 64;
  bool seen[kStatesMax] = {};
  seen[static_cast<std::size_t>(start)] = true;
  for (std::size_t round = 0; round < kStatesMax; ++round) {
    for (const auto& edge : table) {
      if (seen[static_cast<std::size_t>(edge.from)]) seen[static_cast<std::size_t>(edge.to)] = true;
    }
  }
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
    if (!seen[i]) return false;
  }
  return true;
}

}  // namespace sabia::model
