#include "spot/trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>

#include "base/json.h"

namespace sabia::spot {
namespace {

constexpr double kGapSecondsMax = 86'400;

tl::unexpected<Error> Bad(std::string_view file, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "{}: {}", file, what);
}

class Builder {
 public:
  void Add(Millis at, int instances) {
    if (!trace_.steps.empty() && trace_.steps.back().at == at) {
      trace_.steps.back().instances = instances;
      Join();
    } else if (trace_.steps.empty() || trace_.steps.back().instances != instances) {
      trace_.steps.push_back({at, instances});
    }
  }
  bool IsFull() const { return trace_.steps.size() >= kTraceStepsMax; }
  bool empty() const { return trace_.steps.empty(); }
  CapacityTrace Finish(Millis length, Millis gap) {
    trace_.length = length;
    trace_.gap = gap;
    return std::move(trace_);
  }

 private:
  void Join() {
    const std::size_t n = trace_.steps.size();
    if (n > 1 && trace_.steps[n - 2].instances == trace_.steps[n - 1].instances) {
      trace_.steps.pop_back();
    }
  }
  CapacityTrace trace_;
};

// The number of instances in a JSON value, in the trace's own sense.
Result<int> ReadInstances(const json::value& value, std::string_view field, Sense sense) {
  const std::int64_t most = sense == Sense::kAvailable ? kInstancesMax : 1;
  std::int64_t number = -1;
  if (value.is_int64()) number = value.get_int64();
  if (value.is_uint64() && value.get_uint64() <= static_cast<std::uint64_t>(most)) {
    number = static_cast<std::int64_t>(value.get_uint64());
  }
  if (number < 0 || number > most) {
    return Fail(ErrorCode::kInvalidArgument, "{} is {}: a whole number from 0 to {}", field,
                json::serialize(value).substr(0, 40), most);
  }
  return static_cast<int>(sense == Sense::kAvailable ? number : 1 - number);
}

Result<Millis> ReadGap(const json::object& document) {
  const json::object* metadata = FindObject(document, "metadata");
  if (metadata == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "'metadata' is missing: {{\"gap_seconds\": 600}}");
  }
  const auto seconds = FindDouble(*metadata, "gap_seconds");
  if (!seconds || !(*seconds >= 0.001 && *seconds <= kGapSecondsMax)) {
    return Fail(ErrorCode::kInvalidArgument,
                "'metadata.gap_seconds' must be a number of seconds from 0.001 to {}",
                kGapSecondsMax);
  }
  return Millis(std::llround(*seconds * 1000));
}

Result<CapacityTrace> ReadSamples(const json::array& data, Millis gap, Sense sense) {
  Builder builder;
  Millis at{0};
  for (std::size_t i = 0; i < data.size(); ++i) {
    ASSIGN_OR_RETURN(const int instances,
                     ReadInstances(data[i], fmt::format("'data[{}]'", i), sense));
    builder.Add(at, instances);
    at += gap;
  }
  return builder.Finish(at, gap);
}

Result<std::int64_t> ReadRun(const json::value& value, std::size_t i) {
  const json::array* run = value.if_array();
  if (run != nullptr && run->size() == 2 && (*run)[1].is_int64()) {
    const std::int64_t count = (*run)[1].get_int64();
    if (count >= 1 && count <= std::int64_t{kTraceStepsMax}) return count;
  }
  return Fail(ErrorCode::kInvalidArgument, "'rle[{}]' is {}: [instances, ticks], 1 to {} ticks", i,
              json::serialize(value).substr(0, 40), kTraceStepsMax);
}

Result<CapacityTrace> ReadRuns(const json::object& document, Millis gap, Sense sense) {
  const json::array& runs = *FindArray(document, "rle");
  Builder builder;
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSIGN_OR_RETURN(const std::int64_t count, ReadRun(runs[i], i));
    ASSIGN_OR_RETURN(const int instances,
                     ReadInstances(runs[i].get_array()[0], fmt::format("'rle[{}][0]'", i), sense));
    builder.Add(gap * samples, instances);
    samples += count;
    if (samples > kTraceLengthMax / gap) {
      return Fail(ErrorCode::kInvalidArgument, "'rle[{}]': the trace is longer than 20 years", i);
    }
  }
  if (const auto told = FindInt(document, "samples"); told && *told != samples) {
    return Fail(ErrorCode::kInvalidArgument, "'samples' is {}, but 'rle' has {} ticks", *told,
                samples);
  }
  return builder.Finish(gap * samples, gap);
}

Result<CapacityTrace> ReadAvailability(std::string_view text, Sense sense) {
  ASSIGN_OR_RETURN(const json::value document, ParseJsonAtOnce(text));
  if (!document.is_object()) {
    return Fail(ErrorCode::kInvalidArgument, "not a JSON object with 'metadata' and 'data'");
  }
  const json::object& object = document.get_object();
  ASSIGN_OR_RETURN(const Millis gap, ReadGap(object));
  const json::array* data = FindArray(object, "data");
  const json::array* runs = FindArray(object, "rle");
  if ((data == nullptr) == (runs == nullptr)) {
    return Fail(ErrorCode::kInvalidArgument, "one of the lists 'data' and 'rle' must be there");
  }
  const json::array& list = data != nullptr ? *data : *runs;
  if (list.empty() || list.size() > kTraceStepsMax) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' has {} entries: 1 to {}",
                data != nullptr ? "data" : "rle", list.size(), kTraceStepsMax);
  }
  return data != nullptr ? ReadSamples(*data, gap, sense) : ReadRuns(object, gap, sense);
}

// Lines with their numbers and fields; empty lines are skipped.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool Next() {
    while (!text_.empty()) {
      const std::size_t end = text_.find('\n');
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
      ++number_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      Split(line);
      return true;
    }
    return false;
  }
  const std::vector<std::string_view>& fields() const { return fields_; }
  tl::unexpected<Error> Bad(std::string_view file, std::string_view what) const {
    return Fail(ErrorCode::kInvalidArgument, "{}: line {}: {}", file, number_, what);
  }

 private:
  void Split(std::string_view line) {
    fields_.clear();
    while (true) {
      const std::size_t comma = line.find(',');
      fields_.push_back(line.substr(0, comma));
      if (comma == line.npos) return;
      line.remove_prefix(comma + 1);
    }
  }
  std::string_view text_;
  int number_ = 0;
  std::vector<std::string_view> fields_;
};

template <typename Number>
bool ReadNumber(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string Short(std::string_view text) { return std::string(text.substr(0, 40)); }

// The columns of a price file, found by their names.
struct PriceColumns {
  std::size_t time = SIZE_MAX, price = SIZE_MAX, zone = SIZE_MAX, type = SIZE_MAX;
  std::size_t count = 0;
};

Result<PriceColumns> ReadPriceHeader(std::string_view file, const Lines& lines) {
  PriceColumns out;
  out.count = lines.fields().size();
  for (std::size_t i = 0; i < out.count; ++i) {
    const std::string_view name = lines.fields()[i];
    if (name == "timestamp" || name == "Timestamp") out.time = i;
    if (name == "spot_usd_per_hour" || name == "SpotPrice") out.price = i;
    if (name == "availability_zone" || name == "AvailabilityZone" || name == "Region") out.zone = i;
    if (name == "instance_type" || name == "InstanceType") out.type = i;
  }
  if (out.time == SIZE_MAX || out.price == SIZE_MAX) {
    return lines.Bad(file,
                     "the header must name a column 'timestamp' or 'Timestamp' and a column "
                     "'spot_usd_per_hour' or 'SpotPrice'");
  }
  return out;
}

Result<WallTime> ReadTime(std::string_view text) {
  std::string iso(text);
  if (iso.size() > 10 && iso[10] == ' ') iso[10] = 'T';
  return ParseIso8601(iso);
}

Result<PriceStep> ReadPrice(std::string_view file, const Lines& lines,
                            const PriceColumns& columns) {
  const std::string_view when = lines.fields()[columns.time];
  const std::string_view price = lines.fields()[columns.price];
  const auto at = ReadTime(when);
  if (!at) {
    return lines.Bad(file, fmt::format("'{}' is no time: 2026-01-31T12:00:00Z", Short(when)));
  }
  double dollars = 0;
  if (!ReadNumber(price, dollars) || !(dollars >= 0 && dollars <= 1e6)) {
    return lines.Bad(file,
                     fmt::format("'{}' is no price: dollars per hour, 0 to 1000000", Short(price)));
  }
  return PriceStep{*at, Money::FromNanos(std::llround(dollars * 1e9))};
}

}  // namespace

int CapacityTrace::At(Millis time) const {
  const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                      [](Millis t, const CapacityStep& s) { return t < s.at; });
  return after == steps.begin() ? 0 : std::prev(after)->instances;
}

Result<CapacityTrace> ParseAvailability(std::string_view file, std::string_view text, Sense sense) {
  auto trace = ReadAvailability(text, sense);
  if (!trace) return Bad(file, trace.error().message);
  return trace;
}

Result<CapacityTrace> ParseFleetEvents(std::string_view file, std::string_view text) {
  Lines lines(text);
  Builder builder;
  std::set<std::string_view> alive;
  Millis last{0};
  for (builder.Add(Millis(0), 0); lines.Next();) {
    if (lines.fields().size() != 3) return lines.Bad(file, "not 'milliseconds,add|remove,node'");
    const std::string_view node = lines.fields()[2];
    const std::string_view what = lines.fields()[1];
    std::int64_t at = -1;
    if (!ReadNumber(lines.fields()[0], at) || at < 0 || Millis(at) > kTraceLengthMax) {
      return lines.Bad(file, fmt::format("'{}' is no time: milliseconds, at most 20 years",
                                         Short(lines.fields()[0])));
    }
    if (Millis(at) < last) return lines.Bad(file, "earlier than the line before");
    last = Millis(at);
    if (what != "add" && what != "remove") {
      return lines.Bad(file, fmt::format("'{}' must be 'add' or 'remove'", Short(what)));
    }
    if (what == "add" && !alive.insert(node).second) {
      return lines.Bad(file, fmt::format("'{}' is added, but it is there", Short(node)));
    }
    if (what == "remove" && alive.erase(node) == 0) {
      return lines.Bad(file, fmt::format("'{}' is removed, but it is not there", Short(node)));
    }
    if (builder.IsFull()) return lines.Bad(file, "too many events");
    builder.Add(last, static_cast<int>(alive.size()));
  }
  if (last == Millis(0)) return Bad(file, "no event after time 0");
  return builder.Finish(last, Millis(0));
}

Result<CapacityTrace> ParseFleetCounts(std::string_view file, std::string_view text,
                                       TimeUnit unit) {
  const double scale = unit == TimeUnit::kSeconds ? 1e3 : 86'400e3;
  Lines lines(text);
  Builder builder;
  Millis last{0};
  while (lines.Next()) {
    if (lines.fields().size() != 2) return lines.Bad(file, "not 'time,count'");
    double at = -1;
    if (!ReadNumber(lines.fields()[0], at) || !(at >= 0) ||
        at * scale > static_cast<double>(kTraceLengthMax.count())) {
      return lines.Bad(file, fmt::format("'{}' is no time: a number, at most 20 years",
                                         Short(lines.fields()[0])));
    }
    int count = -1;
    if (!ReadNumber(lines.fields()[1], count) || count < 0 || count > kInstancesMax) {
      return lines.Bad(file, fmt::format("'{}' is no count: a whole number from 0 to {}",
                                         Short(lines.fields()[1]), kInstancesMax));
    }
    const Millis time(std::llround(at * scale));
    if (time < last) return lines.Bad(file, "earlier than the line before");
    last = time;
    if (builder.IsFull()) return lines.Bad(file, "too many lines");
    if (builder.empty()) builder.Add(Millis(0), time == Millis(0) ? count : 0);
    builder.Add(time, count);
  }
  if (last == Millis(0)) return Bad(file, "no line after time 0");
  return builder.Finish(last, Millis(0));
}

Result<std::vector<PriceStep>> ParsePrices(std::string_view file, std::string_view text,
                                           const PriceFilter& filter) {
  Lines lines(text);
  if (!lines.Next()) return Bad(file, "the file is empty");
  ASSIGN_OR_RETURN(const PriceColumns columns, ReadPriceHeader(file, lines));
  std::vector<PriceStep> out;
  std::string_view zone = filter.zone, type = filter.instance_type;
  while (lines.Next()) {
    if (lines.fields().size() != columns.count) {
      return lines.Bad(
          file, fmt::format("{} fields instead of {}", lines.fields().size(), columns.count));
    }
    // A series is of one zone and one type: the one asked for, else the only one.
    const auto other = [&](std::size_t column, std::string_view& one) {
      if (column == SIZE_MAX) return false;
      if (one.empty()) one = lines.fields()[column];
      return lines.fields()[column] != one;
    };
    const bool skip_zone = other(columns.zone, zone), skip_type = other(columns.type, type);
    if ((skip_zone && filter.zone.empty()) || (skip_type && filter.instance_type.empty())) {
      return lines.Bad(file, fmt::format("there are several {}: choose one",
                                         skip_zone ? "zones" : "instance types"));
    }
    if (skip_zone || skip_type) continue;
    ASSIGN_OR_RETURN(const PriceStep step, ReadPrice(file, lines, columns));
    if (out.size() >= kTraceStepsMax) return lines.Bad(file, "too many prices");
    out.push_back(step);
  }
  if (out.empty()) return Bad(file, "no price of the zone and instance type asked for");
  std::stable_sort(out.begin(), out.end(),
                   [](const PriceStep& a, const PriceStep& b) { return a.at < b.at; });
  return out;
}

}  // namespace sabia::spot
