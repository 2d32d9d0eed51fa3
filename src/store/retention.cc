#include "store/retention.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "store/resources.h"

namespace sabia::store {
namespace {

constexpr Seconds kFirstPassAfter{60};  // a start has better things to do
constexpr Seconds kPassEvery{3600};
constexpr Seconds kDay{86'400};
constexpr std::size_t kSeriesPerRead = 1'000;

// Behind `age` points are merged to one per `period`.
struct Step {
  std::string_view name;
  Seconds age;
  Seconds period;
};
constexpr std::array kSteps{Step{"five minutes", 15 * kDay, Seconds(300)},
                            Step{"an hour", 63 * kDay, Seconds(3600)}};
constexpr Seconds kAgeMax = 455 * kDay;

constexpr const char* kSchema = R"sql(
CREATE TABLE retention(step TEXT PRIMARY KEY, done_until INTEGER NOT NULL) STRICT, WITHOUT ROWID
)sql";

WallTime Floor(WallTime time, Seconds period) {
  const std::int64_t ms = ToUnixMillis(time);
  const std::int64_t length = Millis(period).count();
  return FromUnixMillis(ms - (ms % length + length) % length);
}

struct Span {
  std::int64_t series = 0;
  WallTime from;
  WallTime to;
};

// Series behind `after` that have points in [from, to), with the time of their first one there.
Result<std::vector<Span>> SeriesWithPoints(Database& database, std::int64_t after, WallTime from,
                                           WallTime to) {
  std::vector<Span> out;
  RETURN_IF_ERROR(database.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(
        Statement rows,
        connection.Prepare("SELECT id, (SELECT min(time) FROM points WHERE series = id"
                           " AND time >= ?2 AND time < ?3) AS first FROM series"
                           " WHERE id > ?1 AND first IS NOT NULL ORDER BY id LIMIT ?4"));
    rows.BindAll(after, ToUnixMillis(from), ToUnixMillis(to), kSeriesPerRead);
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) return {};
      out.push_back({rows.Int(0), FromUnixMillis(rows.Int(1)), to});
    }
  }));
  return out;
}

struct Merged {
  std::int64_t time = 0;
  double value = 0;
  double count = 0;
  double minimum = 0;
  double maximum = 0;
  std::string unit;
};

Status Merge(Connection& connection, const Span& span, Seconds period) {
  const std::int64_t from = ToUnixMillis(span.from);
  const std::int64_t to = ToUnixMillis(span.to);
  std::vector<Merged> merged;
  {
    ASSIGN_OR_RETURN(
        Statement rows,
        connection.Prepare("SELECT time / ?4 * ?4 AS start, sum(value), sum(count), min(minimum),"
                           " max(maximum), unit FROM points"
                           " WHERE series = ?1 AND time >= ?2 AND time < ?3"
                           " GROUP BY start, unit ORDER BY start, unit"));
    rows.BindAll(span.series, from, to, Millis(period).count());
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) break;
      merged.push_back({rows.Int(0), rows.Double(1), rows.Double(2), rows.Double(3), rows.Double(4),
                        rows.String(5)});
    }
  }
  RETURN_IF_ERROR(connection.Run("DELETE FROM points WHERE series = ? AND time >= ? AND time < ?",
                                 span.series, from, to));
  std::int64_t place = 0;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    const Merged& point = merged[i];
    place = i > 0 && merged[i - 1].time == point.time ? place + 1 : 0;
    RETURN_IF_ERROR(connection.Run("INSERT INTO points VALUES(?, ?, ?, ?, ?, ?, ?, ?)", span.series,
                                   point.time, place, point.value, point.count, point.minimum,
                                   point.maximum, point.unit));
  }
  return {};
}

// Day by day, so that no transaction is long.
Status MergeSpan(Database& database, const Span& span, Seconds period,
                 const std::function<bool()>& cancelled) {
  for (WallTime from = Floor(span.from, period); from < span.to && !cancelled();) {
    const WallTime to = std::min(span.to, Floor(from, kDay) + kDay);
    RETURN_IF_ERROR(database.Write([&](Connection& connection) {
      return Merge(connection, {span.series, from, to}, period);
    }));
    from = to;
  }
  return {};
}

Result<WallTime> DoneUntil(Database& database, std::string_view step) {
  WallTime out = FromUnixMillis(0);
  RETURN_IF_ERROR(database.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(Statement read,
                     connection.Prepare("SELECT done_until FROM retention WHERE step = ?"));
    ASSIGN_OR_RETURN(const bool found, read.BindAll(step).Step());
    if (found) out = FromUnixMillis(read.Int(0));
    return {};
  }));
  return out;
}

Status ApplyStep(Database& database, const Step& step, WallTime now,
                 const std::function<bool()>& cancelled) {
  const WallTime until = Floor(now - step.age, step.period);
  ASSIGN_OR_RETURN(const WallTime done, DoneUntil(database, step.name));
  if (until <= done) return {};
  std::int64_t after = 0;
  while (!cancelled()) {
    ASSIGN_OR_RETURN(const auto spans, SeriesWithPoints(database, after, done, until));
    for (const Span& span : spans)
      RETURN_IF_ERROR(MergeSpan(database, span, step.period, cancelled));
    if (spans.size() == kSeriesPerRead) {
      after = spans.back().series;
      continue;
    }
    if (cancelled()) return {};
    return database.Write([&](Connection& connection) {
      return connection.Run(
          "INSERT INTO retention VALUES(?, ?)"
          " ON CONFLICT(step) DO UPDATE SET done_until = excluded.done_until",
          step.name, ToUnixMillis(until));
    });
  }
  return {};
}

// A series whose points are gone is no series: ListMetrics stops naming it.
Status Drop(Connection& connection, std::int64_t series, WallTime until) {
  RETURN_IF_ERROR(connection.Run("DELETE FROM points WHERE series = ? AND time < ?", series,
                                 ToUnixMillis(until)));
  RETURN_IF_ERROR(
      connection.Run("DELETE FROM series WHERE id = ?1 AND NOT EXISTS"
                     " (SELECT 1 FROM points WHERE series = ?1)",
                     series));
  if (connection.Changes() == 0) return {};
  return connection.Run("DELETE FROM series_dimensions WHERE series = ?", series);
}

Status DropOld(Database& database, WallTime until, const std::function<bool()>& cancelled) {
  std::int64_t after = 0;
  while (!cancelled()) {
    ASSIGN_OR_RETURN(const auto spans, SeriesWithPoints(database, after, FromUnixMillis(0), until));
    for (const Span& span : spans) {
      if (cancelled()) return {};
      RETURN_IF_ERROR(database.Write(
          [&](Connection& connection) { return Drop(connection, span.series, until); }));
    }
    if (spans.size() < kSeriesPerRead) return {};
    after = spans.back().series;
  }
  return {};
}

// Ids of instances are never used again.
Status ForgetInstances(Database& database) {
  return database.Write([](Connection& connection) {
    return connection.Run(
        "DELETE FROM ingested WHERE source NOT IN (SELECT name FROM resources WHERE kind = ?)",
        static_cast<int>(Kind::kInstance));
  });
}

}  // namespace

std::vector<std::string> Retention::Migrations() { return {kSchema}; }

Status Retention::Apply(Database& database, WallTime now, const std::function<bool()>& cancelled) {
  for (const Step& step : kSteps) RETURN_IF_ERROR(ApplyStep(database, step, now, cancelled));
  RETURN_IF_ERROR(DropOld(database, now - kAgeMax, cancelled));
  if (cancelled()) return {};
  return ForgetInstances(database);
}

Retention::Retention(Database& database, env::Clock& clock)
    : database_(database), clock_(clock), thread_({.first_after = kFirstPassAfter}, [this](bool) {
        const Status applied =
            Apply(database_, clock_.Wall(), [this] { return thread_.stopping(); });
        if (!applied) LogWarn("failed to thin out old metrics: {}", applied.error().message);
        return kPassEvery;
      }) {}

}  // namespace sabia::store
