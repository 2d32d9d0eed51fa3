// Recorded markets in every format; the first byte chooses. What is read has ordered steps within
// its length, and can be asked about any moment.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "spot/trace.h"

namespace {

using namespace sabia::spot;

void CheckTrace(const sabia::Result<CapacityTrace>& trace) {
  if (!trace) {
    CHECK(trace.error().code == sabia::ErrorCode::kInvalidArgument);
    CHECK(trace.error().message.starts_with("file: "));
    return;
  }
  CHECK(!trace->steps.empty() && trace->steps.front().at == sabia::Millis(0));
  CHECK(trace->length > sabia::Millis(0));
  for (std::size_t i = 1; i < trace->steps.size(); ++i) {
    CHECK(trace->steps[i - 1].at < trace->steps[i].at);
    CHECK(trace->steps[i - 1].instances != trace->steps[i].instances);
    CHECK(trace->steps[i].at <= trace->length);
    CHECK(trace->At(trace->steps[i].at) == trace->steps[i].instances);
  }
}

void CheckPrices(std::string_view text) {
  const auto prices = ParsePrices("file", text, {});
  if (!prices) return;
  CHECK(!prices->empty());
  for (std::size_t i = 1; i < prices->size(); ++i) CHECK((*prices)[i - 1].at <= (*prices)[i].at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'a':
      CheckTrace(ParseAvailability("file", text));
      break;
    case 'u':
      CheckTrace(ParseAvailability("file", text, Sense::kUnavailable));
      break;
    case 'e':
      CheckTrace(ParseFleetEvents("file", text));
      break;
    case 'c':
      CheckTrace(ParseFleetCounts("file", text, TimeUnit::kSeconds));
      break;
    case 'd':
      CheckTrace(ParseFleetCounts("file", text, TimeUnit::kDays));
      break;
    default:
      CheckPrices(text);
  }
  return 0;
}
