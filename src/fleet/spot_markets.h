// The spot markets of this daemon: which capacity is there for which instance type in which zone,
// when it goes, and what it costs.
//
// One document (docs/semantics/spot.md), read and checked at start:
//   {"seed": 1, "zones": ["us-west-2a", …], "begin": time, "history_days": 14,
//    "markets": [{"instance_type": "*", "zone": "*", "kind": "poisson", …}, …]}
// or its short form: "none", "command", "poisson:mtbf=2h,return=10m,seed=7,zones=2". The first
// entry that fits a type and a zone is its market. A type that no entry fits has capacity always,
// in no zone in particular: interruptions come by command only.
//
// A market is a fact of time and seed, so a daemon that starts again finds the same one; nothing is
// stored. Jobs do not take capacity from each other: a market says how many instances anybody can
// have.
//
// Threading: thread-safe. Errors: kInvalidArgument, naming the member or the part of the short
// form, its value and what is allowed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/training_job.h"
#include "spot/gang.h"
#include "spot/market_config.h"
#include "spot/simulation.h"

namespace sabia::fleet {

// How many instances of which type a job has, over its groups.
using InstanceCounts = std::vector<std::pair<std::string, int>>;
InstanceCounts InstancesOf(const model::TrainingJob& job);

class SpotMarkets {
 public:
  struct Context {
    std::string region;
    spot::PriceLookup prices;
    spot::ReadFile read;  // files that the document names
  };
  // text: the document; short_form instead of it.
  static Result<std::unique_ptr<SpotMarkets>> FromDocument(std::string_view text, Context context);
  static Result<std::unique_ptr<SpotMarkets>> FromShortForm(std::string_view text, Context context);
  // Whether it is one, and not the name of a file.
  static bool IsShortForm(std::string_view text);

  const std::vector<std::string>& zones() const { return zones_; }
  Millis history() const { return history_; }
  // Whether a market decides when such capacity is there.
  bool Decides(const InstanceCounts& instances) const;
  // The market of all these instances in one zone; steady where none decides.
  std::shared_ptr<const spot::Market> GangIn(const std::string& zone,
                                             const InstanceCounts& instances) const;
  // On demand, all of them; nothing when a price is not known.
  std::optional<spot::InstancePrices> PricesOf(const InstanceCounts& instances) const;

  // For people: each zone's capacity and price of this type now, since when, and what was seen in
  // the past. Never what is to come.
  json::object Describe(const std::string& instance_type, WallTime now) const;

 private:
  struct Entry {
    std::string instance_type, zone;
    json::object members;
    std::string place;
  };

  explicit SpotMarkets(Context context) : context_(std::move(context)) {}
  Status Read(const json::object& document);
  Status ReadZones(const json::array* list);
  Status AddEntry(const json::value& value, std::size_t number);
  const Entry* EntryOf(const std::string& type, const std::string& zone) const;
  Result<std::unique_ptr<spot::Market>> Make(const Entry& entry, const std::string& type,
                                             const std::string& zone) const;
  std::shared_ptr<const spot::Market> MarketOf(const std::string& type,
                                               const std::string& zone) const;
  Money SpotPriceOf(const std::string& type) const;

  const Context context_;
  std::uint64_t seed_ = 1;
  WallTime begin_;
  Millis history_{std::chrono::hours(24 * 14)};
  std::vector<std::string> zones_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> files_;  // that entries name, as read at start
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, std::string>, std::shared_ptr<const spot::Market>>
      markets_;  // guarded by mutex_; by type and zone
};

}  // namespace sabia::fleet
