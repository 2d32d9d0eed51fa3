// The short form of a market: "none", "command", "poisson:mtbf=2h,return=10m,seed=7,zones=2".
#include <fmt/format.h>

#include <charconv>
#include <map>

#include "fleet/spot_markets.h"

namespace sabia::fleet {
namespace {

constexpr double kReturnShare = 0.1;  // of the mean time between interruptions, when not given

tl::unexpected<Error> Bad(std::string_view name, std::string_view value, std::string_view allowed) {
  return Fail(ErrorCode::kInvalidArgument, "spot market: {} is '{}': {}", name, value, allowed);
}

Result<double> NumberOf(std::string_view name, std::string_view text, std::string_view allowed) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stopped != end) return Bad(name, text, allowed);
  return value;
}

// "90s", "30m", "2h", "3d" in hours.
Result<double> HoursOf(std::string_view name, std::string_view text) {
  constexpr std::string_view kAllowed = "a number and its unit, as 90s, 30m, 2h or 3d";
  if (text.empty()) return Bad(name, text, kAllowed);
  static const std::map<char, double> kHours = {
      {'s', 1.0 / 3600}, {'m', 1.0 / 60}, {'h', 1}, {'d', 24}};
  const auto unit = kHours.find(text.back());
  if (unit == kHours.end()) return Bad(name, text, kAllowed);
  ASSIGN_OR_RETURN(const double number, NumberOf(name, text.substr(0, text.size() - 1), kAllowed));
  if (!(number > 0)) return Bad(name, text, kAllowed);
  return number * unit->second;
}

// "a=1,b=2".
Result<std::map<std::string, std::string>> PairsOf(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Bad("a part", part, "name=value, as in poisson:mtbf=2h,return=10m,seed=7,zones=2");
    }
    std::string name(part.substr(0, equals));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!out.emplace(name, part.substr(equals + 1)).second)
      return Bad("a part", part, "it is there twice");
  }
  return out;
}

Result<json::object> PoissonOf(std::string_view text, const std::string& region) {
  ASSIGN_OR_RETURN(auto pairs, PairsOf(text));
  for (const auto& [name, value] : pairs) {
    if (name != "mtbf" && name != "return" && name != "seed" && name != "zones") {
      return Bad("a part", name + "=" + value, "one of mtbf, return, seed, zones");
    }
  }
  if (!pairs.contains("mtbf")) {
    return Bad("mtbf", "", "the mean time between interruptions, as 90s, 30m, 2h or 3d");
  }
  ASSIGN_OR_RETURN(const double between, HoursOf("mtbf", pairs["mtbf"]));
  constexpr double kLeastHours = 1.0 / 3600;
  double until = std::max(between * kReturnShare, kLeastHours);
  if (pairs.contains("return")) {
    ASSIGN_OR_RETURN(until, HoursOf("return", pairs["return"]));
  }
  json::object market{
      {"kind", "poisson"}, {"hours_between_interruptions", between}, {"hours_until_return", until}};
  json::object out{{"markets", json::array{std::move(market)}}};
  if (pairs.contains("seed")) {
    const std::string& text_of = pairs["seed"];
    std::int64_t seed = -1;
    const char* end = text_of.data() + text_of.size();
    const auto [stopped, problem] = std::from_chars(text_of.data(), end, seed);
    if (problem != std::errc() || stopped != end || seed < 0) {
      return Bad("seed", text_of, "a whole number of at least 0");
    }
    out["seed"] = seed;
  }
  if (pairs.contains("zones")) {
    constexpr double kZonesMax = 26;
    ASSIGN_OR_RETURN(const double count, NumberOf("zones", pairs["zones"], "1 to 26"));
    if (!(count >= 1 && count <= kZonesMax)) return Bad("zones", pairs["zones"], "1 to 26");
    json::array zones;
    for (int i = 0; i < static_cast<int>(count); ++i) {
      zones.emplace_back(region + static_cast<char>('a' + i));
    }
    out["zones"] = std::move(zones);
  }
  return out;
}

}  // namespace

bool SpotMarkets::IsShortForm(std::string_view text) {
  return text == "none" || text == "command" || text.starts_with("poisson:");
}

Result<std::unique_ptr<SpotMarkets>> SpotMarkets::FromShortForm(std::string_view text,
                                                                Context context) {
  json::object document;
  if (text.starts_with("poisson:")) {
    ASSIGN_OR_RETURN(document, PoissonOf(text.substr(text.find(':') + 1), context.region));
  } else if (text != "none" && text != "command") {
    return Bad("it", text, "none, command, poisson:mtbf=…, or a file");
  }
  return FromDocument(json::serialize(document), std::move(context));
}

}  // namespace sabia::fleet
