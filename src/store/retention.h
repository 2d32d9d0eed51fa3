// How long metrics are kept, and in what detail: as CloudWatch does.
//
//   younger than 15 days    every point at its own time
//   up to 63 days           one point per five minutes and unit
//   up to 455 days          one point per hour and unit
//   older                   gone, and so is a series without points
//
// (AWS keeps three more hours in seconds; here those seconds last the 15 days.) A point that stands
// for several keeps their sum, number, minimum and maximum, so averages stay exact; percentiles of
// such points are known only where all values were the same. Where an instance that is gone had
// been read up to is forgotten, too.
//
// A crash costs a repetition: how far a step has come is written with its last change. Each
// transaction covers one day of one series, so that commits of others wait for milliseconds.
//
// Threading: owns one thread. Errors are logged and tried again an hour later.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/background_thread.h"
#include "env/clock.h"
#include "store/database.h"

namespace sabia::store {

class Retention {
 public:
  Retention(Database& database, env::Clock& clock);
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;
  ~Retention() = default;  // finishes the transaction at hand

  static std::vector<std::string> Migrations();
  // One pass over everything; cancelled is asked between transactions.
  static Status Apply(Database& database, WallTime now, const std::function<bool()>& cancelled);

 private:
  Database& database_;
  env::Clock& clock_;
  env::BackgroundThread thread_;  // last: uses all of the above
};

}  // namespace sabia::store
