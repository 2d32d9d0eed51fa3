#include "spot/hazard.h"

#include <algorithm>
#include <cmath>

namespace sabia::spot {
namespace {

constexpr std::size_t kSingleLooks = 5;  // classes that hold one look each
constexpr double kOldestHours = 64;
constexpr double kEndsMin = 1e-6, kEndsMax = 0.98;

double Ratio(Millis a, Millis b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

using ByAge = std::array<double, kAgeClasses>;

// What was seen of one direction, weighted by how long ago it was.
struct Seen {
  ByAge ends{};
  ByAge looks{};

  void Add(const Spell& spell, Millis ended_ago, const Ages& ages, Millis half_life) {
    const auto weight = [&](Millis ago) { return std::exp2(-Ratio(ago, half_life)); };
    for (std::size_t i = 0; i < kAgeClasses && ages.begin(i) < spell.length; ++i) {
      const bool last = i + 1 == kAgeClasses;
      const Millis end = last ? spell.length : std::min(spell.length, ages.begin(i + 1));
      const Millis middle = ended_ago + spell.length - (ages.begin(i) + end) / 2;
      looks[i] += Ratio(end - ages.begin(i), ages.look()) * weight(middle);
    }
    if (spell.end_seen && spell.length > Millis(0)) {
      // The end belongs to the class in which the last look found it alive.
      const Millis last = std::max(spell.length - ages.look(), Millis(0));
      ends[ages.ClassOf(last)] += weight(ended_ago);
    }
  }

  ByAge Shrink(const ByAge& prior, const LearnOptions& options) const {
    double seen = 0, expected = 0;
    for (std::size_t i = 0; i < kAgeClasses; ++i) {
      seen += ends[i];
      expected += looks[i] * prior[i];
    }
    const double level = (seen + options.level_weight) / (expected + options.level_weight);
    ByAge out{};
    for (std::size_t i = 0; i < kAgeClasses; ++i) {
      const double base = std::clamp(level * prior[i], kEndsMin, kEndsMax);
      const double imagined = options.class_weight / base;
      out[i] =
          std::clamp((ends[i] + options.class_weight) / (looks[i] + imagined), kEndsMin, kEndsMax);
    }
    return out;
  }
};

ByAge PriorOf(const Weibull& weibull, const Ages& ages) {
  ByAge out{};
  for (std::size_t i = 0; i < kAgeClasses; ++i) {
    const Millis end = i + 1 < kAgeClasses ? ages.begin(i + 1) : 2 * ages.begin(i);
    const Millis middle = (ages.begin(i) + end - ages.look()) / 2;
    out[i] = std::clamp(weibull.Ends(middle, middle + ages.look()), kEndsMin, kEndsMax);
  }
  return out;
}

bool AnyKnownAge(std::span<const Spell> spells, bool available) {
  return std::any_of(spells.begin(), spells.end(), [&](const Spell& spell) {
    return spell.begin_seen && spell.available == available;
  });
}

}  // namespace

Ages::Ages(Millis look) : look_(look) {
  const double singles = static_cast<double>(kSingleLooks - 1);
  const double oldest = std::max(kOldestHours * 3.6e6 / static_cast<double>(look.count()), 8.0);
  const double growth = std::pow(oldest / singles, 1.0 / (kAgeClasses - kSingleLooks));
  std::int64_t looks = 0;
  for (std::size_t i = 0; i < kAgeClasses; ++i) {
    const double wanted = singles * std::pow(growth, static_cast<double>(i) - singles);
    looks = i < kSingleLooks ? static_cast<std::int64_t>(i)
                             : std::max<std::int64_t>(looks + 1, std::llround(wanted));
    begins_[i] = look * looks;
  }
}

std::size_t Ages::ClassOf(Millis age) const {
  std::size_t i = kAgeClasses - 1;
  while (i > 0 && age < begins_[i]) --i;
  return i;
}

double Weibull::Ends(Millis begin, Millis end) const {
  const auto used = [&](Millis age) {
    return std::pow(static_cast<double>(age.count()) / 3.6e6 / scale_hours, shape);
  };
  return -std::expm1(used(begin) - used(end));
}

std::vector<Spell> SpellsOf(std::span<const Tick> ticks, Millis tick) {
  std::vector<Spell> out;
  for (const Tick& now : ticks) {
    if (out.empty() || out.back().available != now.spot_available) {
      out.push_back({.available = now.spot_available, .begin_seen = !out.empty()});
    }
    out.back().length += tick;
  }
  if (!out.empty()) out.back().end_seen = false;
  return out;
}

Hazards Learn(std::span<const Spell> spells, Millis look, const LearnOptions& options) {
  Hazards out{.ages = Ages(look)};
  Seen available, unavailable;
  const bool known[] = {AnyKnownAge(spells, false), AnyKnownAge(spells, true)};
  Millis ended_ago{0};
  for (auto spell = spells.rbegin(); spell != spells.rend(); ++spell) {
    if (spell->begin_seen || !known[spell->available ? 1 : 0]) {
      Seen& seen = spell->available ? available : unavailable;
      seen.Add(*spell, ended_ago, out.ages, options.half_life);
    }
    ended_ago += spell->length;
  }
  out.ends_available = available.Shrink(PriorOf(options.prior_available, out.ages), options);
  out.ends_unavailable = unavailable.Shrink(PriorOf(options.prior_unavailable, out.ages), options);
  return out;
}

}  // namespace sabia::spot
