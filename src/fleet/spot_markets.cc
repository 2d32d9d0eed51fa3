#include "fleet/spot_markets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "model/instance_groups.h"

namespace sabia::fleet {
namespace {

constexpr std::string_view kAny = "*";
constexpr Millis kDay{86'400'000};
constexpr std::size_t kEntriesMax = 10'000;
constexpr std::size_t kZonesMax = 26;
constexpr std::size_t kMarketsMax = 10'000;  // in the cache
constexpr std::string_view kZoneLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kZonesDefault = 3;
// Recordings that do not say so themselves begin then.
const WallTime kBeginDefault = FromUnixMillis(1'767'225'600'000);  // 2026-01-01

std::vector<std::string> ZonesOf(const std::string& region, std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(region + kZoneLetters[i]);
  return out;
}

}  // namespace

InstanceCounts InstancesOf(const model::TrainingJob& job) {
  InstanceCounts out;
  for (const model::InstanceGroup& group : model::InstanceGroupsOf(job.request)) {
    if (group.count > 0) out.emplace_back(group.instance_type, group.count);
  }
  return out;
}

Result<std::unique_ptr<SpotMarkets>> SpotMarkets::FromDocument(std::string_view text,
                                                               Context context) {
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(text));
  std::unique_ptr<SpotMarkets> out(new SpotMarkets(std::move(context)));
  RETURN_IF_ERROR(out->Read(document));
  return out;
}

Status SpotMarkets::Read(const json::object& document) {
  spot::Fields fields(document, "");
  ASSIGN_OR_RETURN(const std::int64_t seed, fields.Whole("seed", {0, 9e15}, 1));
  seed_ = static_cast<std::uint64_t>(seed);
  ASSIGN_OR_RETURN(const auto begin, fields.Moment("begin"));
  begin_ = begin.value_or(kBeginDefault);
  ASSIGN_OR_RETURN(history_, fields.Time("history_days", kDay, {0, 3660}, 14));
  ASSIGN_OR_RETURN(const json::array* zones, fields.List("zones"));
  ASSIGN_OR_RETURN(const json::array* markets, fields.List("markets"));
  RETURN_IF_ERROR(fields.Finish());
  RETURN_IF_ERROR(ReadZones(zones));
  if (markets != nullptr && markets->size() > kEntriesMax) {
    return fields.Bad("markets", fmt::format("has more than {} entries", kEntriesMax));
  }
  for (std::size_t i = 0; markets != nullptr && i < markets->size(); ++i) {
    RETURN_IF_ERROR(AddEntry((*markets)[i], i));
  }
  return {};
}

Status SpotMarkets::ReadZones(const json::array* list) {
  zones_ = ZonesOf(context_.region, kZonesDefault);
  if (list == nullptr) return {};
  const auto bad = [&](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, "zones {}: a list of 1 to {} different names", what,
                kZonesMax);
  };
  if (list->empty() || list->size() > kZonesMax) {
    return bad(fmt::format("has {} entries", list->size()));
  }
  zones_.clear();
  for (const json::value& value : *list) {
    const std::string zone(value.is_string() ? View(value.get_string()) : std::string_view());
    if (zone.empty() || zone == kAny || std::count(zones_.begin(), zones_.end(), zone) > 0) {
      return bad("has " + json::serialize(value).substr(0, 60));
    }
    zones_.push_back(zone);
  }
  return {};
}

Status SpotMarkets::AddEntry(const json::value& value, std::size_t number) {
  const std::string place = fmt::format("markets[{}]", number);
  ASSIGN_OR_RETURN(spot::Fields fields, spot::Fields::Of(value, place));
  Entry entry{.members = value.get_object(), .place = place};
  ASSIGN_OR_RETURN(entry.instance_type, fields.Text("instance_type", std::string(kAny)));
  ASSIGN_OR_RETURN(entry.zone, fields.Text("zone", std::string(kAny)));
  if (entry.zone != kAny && std::count(zones_.begin(), zones_.end(), entry.zone) == 0) {
    return fields.Bad("zone", fmt::format("is '{}': {}", entry.zone, fmt::join(zones_, ", ")));
  }
  // Files are read once, so that the market does not change under running jobs.
  const auto read = [this](const std::string& name) -> Result<std::string> {
    ASSIGN_OR_RETURN(std::string text, context_.read(name));
    files_[name] = text;
    return text;
  };
  const spot::MarketContext context{.seed = 1, .spot_per_hour = Money(), .begin = begin_};
  RETURN_IF_ERROR(spot::ReadMarket(fields, context, read));
  RETURN_IF_ERROR(fields.Finish());
  entries_.push_back(std::move(entry));
  return {};
}

const SpotMarkets::Entry* SpotMarkets::EntryOf(const std::string& type,
                                               const std::string& zone) const {
  for (const Entry& entry : entries_) {
    const bool fits = (entry.instance_type == kAny || entry.instance_type == type) &&
                      (entry.zone == kAny || entry.zone == zone);
    if (fits) return &entry;
  }
  return nullptr;
}

Result<std::unique_ptr<spot::Market>> SpotMarkets::Make(const Entry& entry, const std::string& type,
                                                        const std::string& zone) const {
  spot::Fields fields(entry.members, entry.place);
  const spot::MarketContext context{.seed = spot::MarketSeed(seed_, type, zone),
                                    .spot_per_hour = SpotPriceOf(type),
                                    .begin = begin_};
  return spot::ReadMarket(fields, context, [this](const std::string& name) -> Result<std::string> {
    return files_.at(name);
  });
}

std::shared_ptr<const spot::Market> SpotMarkets::MarketOf(const std::string& type,
                                                          const std::string& zone) const {
  const std::lock_guard lock(mutex_);
  const auto known = markets_.find({type, zone});
  if (known != markets_.end()) return known->second;
  const Entry* entry = EntryOf(type, zone);
  std::shared_ptr<const spot::Market> market;
  if (entry == nullptr) {
    market = spot::MakeSteadyMarket(SpotPriceOf(type));
  } else {
    auto made = Make(*entry, type, zone);
    CHECK_MSG(made.has_value(), "a market that was read at start can be read again");
    market = std::move(*made);
  }
  if (markets_.size() < kMarketsMax) markets_[{type, zone}] = market;
  return market;
}

Money SpotMarkets::SpotPriceOf(const std::string& type) const {
  const auto prices = context_.prices(context_.region, type);
  return prices ? prices->spot_per_hour : Money();
}

bool SpotMarkets::Decides(const InstanceCounts& instances) const {
  return std::any_of(instances.begin(), instances.end(), [this](const auto& part) {
    return std::any_of(zones_.begin(), zones_.end(), [&](const std::string& zone) {
      const Entry* entry = EntryOf(part.first, zone);
      if (entry == nullptr) return false;
      const std::string kind = GetString(entry->members, "kind", "none");
      return kind != "none" && kind != "command";
    });
  });
}

std::shared_ptr<const spot::Market> SpotMarkets::GangIn(const std::string& zone,
                                                        const InstanceCounts& instances) const {
  std::vector<spot::GangPart> parts;
  for (const auto& [type, count] : instances) parts.push_back({MarketOf(type, zone), count});
  if (parts.empty()) return spot::MakeSteadyMarket(Money());
  return spot::MakeGangMarket(std::move(parts));
}

std::optional<spot::InstancePrices> SpotMarkets::PricesOf(const InstanceCounts& instances) const {
  spot::InstancePrices sum;
  for (const auto& [type, count] : instances) {
    const auto one = context_.prices(context_.region, type);
    if (!one) return std::nullopt;
    sum.on_demand_per_hour += one->on_demand_per_hour * count;
    sum.spot_per_hour += one->spot_per_hour * count;
  }
  return sum;
}

json::object SpotMarkets::Describe(const std::string& instance_type, WallTime now) const {
  constexpr Millis kMinute{60'000};
  json::array rows;
  for (const std::string& zone : zones_) {
    const Entry* entry = EntryOf(instance_type, zone);
    const auto gang = GangIn(zone, {{instance_type, 1}});
    const spot::MarketState state = gang->At(now);
    json::object row{
        {"Zone", zone},
        {"Kind", entry == nullptr ? "none" : GetString(entry->members, "kind", "none")},
        {"Instances", MarketOf(instance_type, zone)->At(now).instances},
        {"UsdPerHour", state.per_hour.dollars()}};
    const Millis look = std::max(kMinute, history_ / spot::kPastLooksMax);
    if (history_ >= look) {
      const auto spells = spot::PastSpells(*gang, {now, look, history_});
      Millis available{0}, all{0};
      std::int64_t interruptions = 0;
      for (const spot::Spell& spell : spells) {
        all += spell.length;
        if (!spell.available) continue;
        available += spell.length;
        if (spell.end_seen) ++interruptions;
      }
      row["SinceSeconds"] = std::chrono::round<Seconds>(spells.back().length).count();
      row["AvailablePercent"] =
          100.0 * static_cast<double>(available.count()) / static_cast<double>(all.count());
      row["Interruptions"] = interruptions;
    }
    rows.push_back(std::move(row));
  }
  json::object out{
      {"InstanceType", instance_type},
      {"HistoryDays", static_cast<double>(history_.count()) / static_cast<double>(kDay.count())},
      {"Zones", std::move(rows)}};
  if (const auto prices = PricesOf({{instance_type, 1}})) {
    out["OnDemandUsdPerHour"] = prices->on_demand_per_hour.dollars();
  }
  return out;
}

}  // namespace sabia::fleet
