#include "tuner/grid_search.h"

#include "tuner/taken.h"

namespace sabia::tuner {

Result<GridSearch> GridSearch::Create(Space space, std::uint64_t limit) {
  std::string product;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Parameter& parameter = space[i];
    if (parameter.kind() != ParameterKind::kCategorical) {
      return Fail(ErrorCode::kInvalidArgument,
                  "parameter '{}': a grid takes categorical ranges only", parameter.name());
    }
    product += fmt::format("{}{} ({})", i == 0 ? "" : " x ", parameter.Count(), parameter.name());
  }
  const std::uint64_t count = space.Count();
  if (count > limit) {
    return Fail(ErrorCode::kInvalidArgument, "the grid has {} configurations: {}; at most {}",
                count == kUncountable ? "more than 2^64" : fmt::format("{}", count), product,
                limit);
  }
  return GridSearch(std::move(space));
}

std::optional<Suggestion> GridSearch::Suggest(const Trials& trials) {
  const Taken taken(trials);
  for (std::uint64_t n = 0; n < space_.Count(); ++n) {
    Configuration values = space_.Nth(n);
    if (taken.Has(values)) continue;
    return Suggestion{.values = std::move(values),
                      .reason = fmt::format("grid, {} of {}", n + 1, space_.Count())};
  }
  return {};
}

}  // namespace sabia::tuner
