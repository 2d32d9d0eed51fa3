#include "spot/market_config.h"

namespace sabia::spot {
namespace {

using Made = Result<std::unique_ptr<Market>>;

constexpr double kHoursMax = 24 * 3660;
constexpr Millis kHour{3'600'000};

Result<AfterEnd> ReadAfterEnd(Fields& fields) {
  ASSIGN_OR_RETURN(const std::string after,
                   fields.OneOf("after_end", {"repeat", "hold"}, "repeat"));
  return after == "repeat" ? AfterEnd::kRepeat : AfterEnd::kHold;
}

Made ReadPoisson(Fields& fields, const MarketContext& context) {
  PoissonTerms terms{.seed = context.seed, .per_hour = context.spot_per_hour};
  const Range hours{1.0 / 3600, kHoursMax};
  ASSIGN_OR_RETURN(terms.between_interruptions,
                   fields.Time("hours_between_interruptions", kHour, hours));
  ASSIGN_OR_RETURN(terms.until_return, fields.Time("hours_until_return", kHour, hours));
  auto market = MakePoissonMarket(terms);
  if (!market) return fields.Bad("hours_until_return", market.error().message);
  return market;
}

Result<CapacityTrace> ReadCapacity(Fields& fields, const ReadFile& read) {
  ASSIGN_OR_RETURN(const std::string file, fields.Text("file"));
  ASSIGN_OR_RETURN(
      const std::string format,
      fields.OneOf("format", {"availability", "fleet-events", "fleet-counts"}, "availability"));
  ASSIGN_OR_RETURN(const std::string one,
                   fields.OneOf("one_means", {"available", "unavailable"}, "available"));
  ASSIGN_OR_RETURN(const std::string unit,
                   fields.OneOf("time_unit", {"seconds", "days"}, "seconds"));
  if (one == "unavailable" && format != "availability") {
    return fields.Bad("one_means", "is for the format 'availability' only");
  }
  if (unit == "days" && format != "fleet-counts") {
    return fields.Bad("time_unit", "is for the format 'fleet-counts' only");
  }
  ASSIGN_OR_RETURN(const std::string text, read(file));
  if (format == "fleet-events") return ParseFleetEvents(file, text);
  if (format == "fleet-counts") {
    return ParseFleetCounts(file, text, unit == "days" ? TimeUnit::kDays : TimeUnit::kSeconds);
  }
  return ParseAvailability(file, text,
                           one == "available" ? Sense::kAvailable : Sense::kUnavailable);
}

Made ReadTrace(Fields& fields, const MarketContext& context, const ReadFile& read) {
  ASSIGN_OR_RETURN(const CapacityTrace trace, ReadCapacity(fields, read));
  ASSIGN_OR_RETURN(const auto begin, fields.Moment("begin"));
  ASSIGN_OR_RETURN(const AfterEnd after_end, ReadAfterEnd(fields));
  return MakeRecordedMarket(trace, begin.value_or(context.begin), after_end, context.spot_per_hour);
}

Made ReadPrices(Fields& fields, const ReadFile& read) {
  ASSIGN_OR_RETURN(const std::string file, fields.Text("file"));
  ASSIGN_OR_RETURN(const std::string zone, fields.Text("file_zone", ""));
  ASSIGN_OR_RETURN(const std::string type, fields.Text("file_instance_type", ""));
  ASSIGN_OR_RETURN(const auto maximum, fields.Dollars("max_usd_per_hour"));
  ASSIGN_OR_RETURN(const auto begin, fields.Moment("begin"));
  ASSIGN_OR_RETURN(const AfterEnd after_end, ReadAfterEnd(fields));
  if (!maximum) return fields.Bad("max_usd_per_hour", "is missing: a number of at least 0");
  ASSIGN_OR_RETURN(const std::string text, read(file));
  ASSIGN_OR_RETURN(const auto prices,
                   ParsePrices(file, text, {.zone = zone, .instance_type = type}));
  return MakePriceMarket(prices, *maximum, begin, after_end);
}

Made ReadSchedule(Fields& fields, const MarketContext& context) {
  ASSIGN_OR_RETURN(const json::array* list, fields.List("outages"));
  if (list == nullptr) return fields.Bad("outages", "is missing: a list of {\"from\", \"until\"}");
  std::vector<Outage> outages;
  for (std::size_t i = 0; i < list->size(); ++i) {
    ASSIGN_OR_RETURN(Fields outage,
                     Fields::Of((*list)[i], fields.Place(fmt::format("outages[{}]", i))));
    ASSIGN_OR_RETURN(const auto from, outage.Moment("from"));
    ASSIGN_OR_RETURN(const auto until, outage.Moment("until"));
    RETURN_IF_ERROR(outage.Finish());
    if (!from) return outage.Bad("from", "is missing: a time as 2026-01-31T12:00:00Z");
    if (!until) return outage.Bad("until", "is missing: a time as 2026-01-31T12:00:00Z");
    outages.push_back({*from, *until});
  }
  auto market = MakeScheduledMarket(std::move(outages), context.spot_per_hour);
  if (!market) return fields.Bad("outages", market.error().message);
  return market;
}

}  // namespace

Made ReadMarket(Fields& fields, const MarketContext& context, const ReadFile& read) {
  ASSIGN_OR_RETURN(
      const std::string kind,
      fields.OneOf("kind", {"none", "poisson", "trace", "prices", "schedule", "command"}, "none"));
  if (kind == "poisson") return ReadPoisson(fields, context);
  if (kind == "trace") return ReadTrace(fields, context, read);
  if (kind == "prices") return ReadPrices(fields, read);
  if (kind == "schedule") return ReadSchedule(fields, context);
  return MakeSteadyMarket(context.spot_per_hour);  // commands come later
}

}  // namespace sabia::spot
