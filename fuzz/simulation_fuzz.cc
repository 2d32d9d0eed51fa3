// Documents of `sabia simulate`. What is accepted has jobs whose deadlines can be met.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "spot/simulation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia;
  using namespace sabia::spot;
  const ReadFile read = [](const std::string&) -> Result<std::string> {
    return std::string(R"({"metadata":{"gap_seconds":60},"data":[1,0]})");
  };
  const PriceLookup prices = [](const std::string&, const std::string&) {
    return InstancePrices{Money::FromNanos(3'000'000'000), Money::FromNanos(1'000'000'000)};
  };
  const auto simulation =
      ParseSimulation(std::string_view(reinterpret_cast<const char*>(data), size), read, prices);
  if (!simulation) {
    CHECK(!simulation.error().message.empty());
    return 0;
  }
  CHECK(!simulation->jobs.empty() && simulation->jobs.size() <= kSimulatedJobsMax);
  for (const SimulatedJob& job : simulation->jobs) {
    CHECK(Check(job.terms).has_value());
    CHECK(job.work.true_work <= job.terms.WorkMax() + Millis(1));
  }
  return 0;
}
