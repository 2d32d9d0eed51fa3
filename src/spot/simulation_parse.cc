#include <algorithm>
#include <cmath>

#include "spot/noise.h"
#include "spot/simulation.h"

namespace sabia::spot {
namespace {

constexpr Millis kSecond{1000}, kMinute{60'000}, kHour{3'600'000}, kDay{86'400'000};
constexpr std::string_view kAny = "*";
// Streams of the document's seed.
constexpr std::uint64_t kArrivals = 1, kTrueWork = 2;

struct MarketEntry {
  std::string instance_type, zone;
  const json::object* object = nullptr;
  std::string place;
  bool used = false;
};

// One entry of "jobs": jobs that differ in their arrival only.
struct JobClass {
  std::string name, instance_type, zone;
  int instances = 1;
  JobTerms terms;
  Millis checkpoint_interval{0};
  double work_spread = 0;
  std::vector<WallTime> arrivals;
};

class Parser {
 public:
  Parser(const ReadFile& read, const PriceLookup& prices) : read_(read), prices_(prices) {}

  Result<Simulation> Parse(const json::object& object) {
    Fields fields(object, "");
    RETURN_IF_ERROR(ReadWorld(fields));
    ASSIGN_OR_RETURN(const json::array* jobs, fields.List("jobs"));
    if (jobs == nullptr || jobs->empty()) {
      return fields.Bad("jobs", "is missing: a list of at least one object");
    }
    RETURN_IF_ERROR(fields.Finish());
    for (std::size_t i = 0; i < jobs->size(); ++i) {
      ASSIGN_OR_RETURN(Fields job, Fields::Of((*jobs)[i], fmt::format("jobs[{}]", i)));
      class_number_ = i;
      RETURN_IF_ERROR(AddJobs(job));
    }
    for (const MarketEntry& market : markets_) {
      if (market.used) continue;
      return Fail(ErrorCode::kInvalidArgument, "{} is of no job: its type and zone fit none",
                  market.place);
    }
    RETURN_IF_ERROR(CheckSize());
    return std::move(out_);
  }

 private:
  Status ReadWorld(Fields& fields) {
    ASSIGN_OR_RETURN(region_, fields.Text("region", "us-east-1"));
    ASSIGN_OR_RETURN(const std::int64_t seed, fields.Whole("seed", {0, 9e15}, 1));
    seed_ = static_cast<std::uint64_t>(seed);
    ASSIGN_OR_RETURN(const auto begin, fields.Moment("begin"));
    begin_ = begin.value_or(FromUnixMillis(1'767'225'600'000));  // 2026-01-01
    ASSIGN_OR_RETURN(tick_, fields.Time("tick_seconds", kSecond, {1, 3600}, 60));
    ASSIGN_OR_RETURN(out_.history, fields.Time("history_days", kDay, {0, 3660}, 14));
    RETURN_IF_ERROR(ReadPolicies(fields));
    return ReadMarkets(fields);
  }

  Status ReadPolicies(Fields& fields) {
    static const std::vector<std::string_view> kAllowed = {
        "on-demand", "greedy",    "uniform-progress", "uniform-progress-oracle",
        "planner",   "omniscient"};
    ASSIGN_OR_RETURN(const json::array* list, fields.List("policies"));
    if (list == nullptr) {
      out_.policies.assign(kAllowed.begin(), kAllowed.end());
      return {};
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      const json::value& value = (*list)[i];
      const std::string policy(value.is_string() ? View(value.get_string()) : std::string_view());
      if (std::find(kAllowed.begin(), kAllowed.end(), policy) == kAllowed.end()) {
        return fields.Bad(fmt::format("policies[{}]", i),
                          fmt::format("is {}: one of {}", json::serialize(value).substr(0, 60),
                                      fmt::join(kAllowed, ", ")));
      }
      const bool twice = std::count(out_.policies.begin(), out_.policies.end(), policy) > 0;
      if (!twice) out_.policies.push_back(policy);
    }
    return {};
  }

  Status ReadMarkets(Fields& fields) {
    ASSIGN_OR_RETURN(const json::array* list, fields.List("markets"));
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const std::string place = fmt::format("markets[{}]", i);
      ASSIGN_OR_RETURN(Fields entry, Fields::Of((*list)[i], place));
      MarketEntry market{.object = &(*list)[i].get_object(), .place = place};
      ASSIGN_OR_RETURN(market.instance_type, entry.Text("instance_type", std::string(kAny)));
      ASSIGN_OR_RETURN(market.zone, entry.Text("zone", std::string(kAny)));
      markets_.push_back(market);
    }
    return {};
  }

  Status AddJobs(Fields& fields) {
    JobClass job;
    ASSIGN_OR_RETURN(job.name, fields.Text("name", fmt::format("job-{}", class_number_ + 1)));
    ASSIGN_OR_RETURN(job.instance_type, fields.Text("instance_type"));
    ASSIGN_OR_RETURN(job.zone, fields.Text("zone", region_ + "a"));
    ASSIGN_OR_RETURN(const std::int64_t count, fields.Whole("instance_count", {1, 1000}, 1));
    job.instances = static_cast<int>(count);
    RETURN_IF_ERROR(ReadTerms(fields, job));
    RETURN_IF_ERROR(ReadJobPrices(fields, job));
    RETURN_IF_ERROR(ReadArrivals(fields, job));
    RETURN_IF_ERROR(fields.Finish());
    if (const Status checked = Check(job.terms); !checked) {
      return fields.Bad("deadline_hours", fmt::format("does not do: {}", checked.error().message));
    }
    ASSIGN_OR_RETURN(const std::shared_ptr<const Market> market, MarketOf(job));
    for (std::size_t i = 0; i < job.arrivals.size(); ++i) Add(job, i, market);
    return {};
  }

  Status ReadTerms(Fields& fields, JobClass& job) {
    JobTerms& terms = job.terms;
    terms.look = tick_;
    ASSIGN_OR_RETURN(terms.work, fields.Time("work_hours", kHour, {0.001, 87'600}));
    ASSIGN_OR_RETURN(terms.time, fields.Time("deadline_hours", kHour, {0.001, 87'600}));
    ASSIGN_OR_RETURN(terms.changeover, fields.Time("changeover_minutes", kMinute, {0, 1440}, 5));
    ASSIGN_OR_RETURN(terms.work_error, fields.Number("work_error", {0, 10}, 0.0));
    ASSIGN_OR_RETURN(job.work_spread, fields.Number("work_spread", {0, 1}, 0.0));
    if (job.work_spread > terms.work_error) {
      return fields.Bad("work_spread",
                        "is more than 'work_error', the bound that policies rely on");
    }
    ASSIGN_OR_RETURN(job.checkpoint_interval,
                     fields.Time("checkpoint_minutes", kMinute, {0, 14'400}, 0));
    terms.lost_work_max = std::min(job.checkpoint_interval, terms.WorkMax());
    return {};
  }

  Status ReadJobPrices(Fields& fields, JobClass& job) {
    ASSIGN_OR_RETURN(const auto on_demand, fields.Dollars("on_demand_usd_per_hour"));
    ASSIGN_OR_RETURN(const auto spot, fields.Dollars("spot_usd_per_hour"));
    std::optional<InstancePrices> known;
    if (!on_demand || !spot) known = prices_(region_, job.instance_type);
    if (!known && !(on_demand && spot)) {
      return fields.Bad("instance_type",
                        fmt::format("is '{}': no price is known for it in {}; give "
                                    "on_demand_usd_per_hour and spot_usd_per_hour",
                                    job.instance_type, region_));
    }
    job.terms.on_demand_per_hour = on_demand.value_or(known ? known->on_demand_per_hour : Money());
    job.terms.spot_per_hour = spot.value_or(known ? known->spot_per_hour : Money());
    if (!spot && known->spot_per_hour == known->on_demand_per_hour) {
      out_.notes.push_back(fmt::format("no spot price is known for {} in {}: on demand's is used",
                                       job.instance_type, region_));
    }
    return {};
  }

  // "arrivals": {"count": 30, "every_hours": 24} or {"count": 30, "mean_hours_between": 24}.
  Status ReadArrivals(Fields& fields, JobClass& job) {
    ASSIGN_OR_RETURN(const json::object* object, fields.Object("arrivals"));
    if (object == nullptr) {
      job.arrivals = {begin_};
      return {};
    }
    Fields arrivals(*object, fields.Place("arrivals"));
    const Range counts{1, static_cast<double>(kSimulatedJobsMax)};
    ASSIGN_OR_RETURN(const std::int64_t count, arrivals.Whole("count", counts));
    ASSIGN_OR_RETURN(const Millis every, arrivals.Time("every_hours", kHour, {0, 87'600}, 0));
    ASSIGN_OR_RETURN(const Millis mean, arrivals.Time("mean_hours_between", kHour, {0, 87'600}, 0));
    RETURN_IF_ERROR(arrivals.Finish());
    if (every > Millis(0) && mean > Millis(0)) {
      return fields.Bad("arrivals", "has both 'every_hours' and 'mean_hours_between'");
    }
    const Noise noise(HashText(seed_, job.name));
    WallTime time = begin_;
    for (std::int64_t i = 0; i < count; ++i) {
      if (mean > Millis(0)) {
        const auto gap = noise.Exponential(kArrivals, static_cast<std::uint64_t>(i),
                                           static_cast<double>(mean.count()));
        time += Millis(std::llround(gap));
      }
      job.arrivals.push_back(time + every * i);
    }
    return {};
  }

  // The first entry that fits; without any, spot is always there.
  Result<std::shared_ptr<const Market>> MarketOf(const JobClass& job) {
    MarketContext context{.seed = MarketSeed(seed_, job.instance_type, job.zone),
                          .spot_per_hour = job.terms.spot_per_hour,
                          .begin = begin_};
    for (MarketEntry& entry : markets_) {
      const bool fits = (entry.instance_type == kAny || entry.instance_type == job.instance_type) &&
                        (entry.zone == kAny || entry.zone == job.zone);
      if (!fits) continue;
      entry.used = true;
      Fields fields(*entry.object, entry.place);
      RETURN_IF_ERROR(fields.Text("instance_type", ""));
      RETURN_IF_ERROR(fields.Text("zone", ""));
      ASSIGN_OR_RETURN(auto market, ReadMarket(fields, context, read_));
      RETURN_IF_ERROR(fields.Finish());
      return std::shared_ptr<const Market>(std::move(market));
    }
    out_.notes.push_back(fmt::format("no market is given for {} in {}: spot is always there",
                                     job.instance_type, job.zone));
    return std::shared_ptr<const Market>(MakeSteadyMarket(context.spot_per_hour));
  }

  void Add(const JobClass& job, std::size_t number, std::shared_ptr<const Market> market) {
    if (out_.jobs.size() > kSimulatedJobsMax) return;  // CheckSize says so
    const Noise noise(HashText(seed_, job.name));
    const double error = job.work_spread * (2 * noise.Uniform(kTrueWork, number) - 1);
    SimulatedJob out{.name = fmt::format("{}-{}", job.name, number + 1),
                     .arrival = job.arrivals[number],
                     .market = std::move(market),
                     .instances = job.instances,
                     .terms = job.terms};
    const double work = static_cast<double>(job.terms.work.count());
    out.work = {.true_work = Millis(std::llround(work * (1 + error))),
                .checkpoint_interval = job.checkpoint_interval};
    out.terms.spot_per_hour = job.terms.spot_per_hour * job.instances;
    out.terms.on_demand_per_hour = job.terms.on_demand_per_hour * job.instances;
    out_.jobs.push_back(std::move(out));
  }

  Status CheckSize() {
    if (out_.jobs.size() > kSimulatedJobsMax) {
      return Fail(ErrorCode::kInvalidArgument, "there are more than {} jobs", kSimulatedJobsMax);
    }
    std::int64_t ticks = 0;
    WallTime first = out_.jobs.front().arrival, last = first;
    for (const SimulatedJob& job : out_.jobs) {
      ticks += (job.terms.time + out_.history) / tick_;
      first = std::min(first, job.arrival);
      last = std::max(last, job.arrival + job.terms.time);
    }
    if (ticks > kSimulatedTicksMax) {
      return Fail(ErrorCode::kInvalidArgument,
                  "the jobs have {} ticks together, at most {}: make tick_seconds larger", ticks,
                  kSimulatedTicksMax);
    }
    out_.span = last - first;
    return {};
  }

  const ReadFile& read_;
  const PriceLookup& prices_;
  Simulation out_;
  std::string region_;
  std::uint64_t seed_ = 1;
  WallTime begin_;
  Millis tick_{0};
  std::vector<MarketEntry> markets_;
  std::size_t class_number_ = 0;
};

}  // namespace

Result<Simulation> ParseSimulation(std::string_view text, const ReadFile& read,
                                   const PriceLookup& prices) {
  ASSIGN_OR_RETURN(const json::object object, ParseJsonObject(text));
  return Parser(read, prices).Parse(object);
}

}  // namespace sabia::spot
