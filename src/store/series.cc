#include "store/series.h"

#include "base/check.h"

namespace sabia::store {
namespace {

// Dimensions are one BLOB, name NUL value NUL …, whose byte order is the order of the map. A second
// table finds the series of one dimension's value, such as one job's. `place` keeps points of the
// same millisecond apart.
constexpr const char* kSchema = R"sql(
CREATE TABLE series(
  id INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  metric TEXT NOT NULL,
  dimensions BLOB NOT NULL,
  UNIQUE(namespace, metric, dimensions)
) STRICT;
CREATE TABLE series_dimensions(
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  series INTEGER NOT NULL,
  PRIMARY KEY(name, value, series)
) STRICT, WITHOUT ROWID;
CREATE TABLE points(
  series INTEGER NOT NULL,
  time INTEGER NOT NULL,
  place INTEGER NOT NULL,
  value REAL NOT NULL,
  count REAL NOT NULL,
  minimum REAL NOT NULL,
  maximum REAL NOT NULL,
  unit TEXT NOT NULL,
  PRIMARY KEY(series, time, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE ingested(source TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID
)sql";

std::string EncodeDimensions(const std::map<std::string, std::string>& dimensions) {
  std::string out;
  for (const auto& [name, value] : dimensions) {
    out += name;
    out += '\0';
    out += value;
    out += '\0';
  }
  return out;
}

Result<std::map<std::string, std::string>> DecodeDimensions(std::string_view bytes) {
  std::map<std::string, std::string> out;
  while (!bytes.empty()) {
    const std::size_t middle = bytes.find('\0');
    const std::size_t end =
        middle == std::string_view::npos ? middle : bytes.find('\0', middle + 1);
    if (end == std::string_view::npos) {
      return Fail(ErrorCode::kCorrupt, "the dimensions of a metric are cut short");
    }
    out.emplace(bytes.substr(0, middle), bytes.substr(middle + 1, end - middle - 1));
    bytes.remove_prefix(end + 1);
  }
  return out;
}

Status CheckKey(const SeriesKey& key) {
  const auto bad = [](std::string_view text) { return text.find('\0') != std::string_view::npos; };
  bool found = bad(key.metric_namespace) || bad(key.metric);
  for (const auto& [name, value] : key.dimensions) found = found || bad(name) || bad(value);
  if (!found) return {};
  return Fail(ErrorCode::kInvalidArgument, "names and dimensions of metrics may not contain NUL");
}

Result<std::optional<std::int64_t>> FindSeries(Connection& connection, const SeriesKey& key,
                                               std::string_view dimensions) {
  ASSIGN_OR_RETURN(Statement find,
                   connection.Prepare("SELECT id FROM series WHERE namespace = ? AND metric = ?"
                                      " AND dimensions = ?"));
  find.BindAll(key.metric_namespace, key.metric, BlobView{dimensions});
  ASSIGN_OR_RETURN(const bool found, find.Step());
  return found ? std::optional(find.Int(0)) : std::nullopt;
}

Result<std::int64_t> FindOrMakeSeries(Connection& connection, const SeriesKey& key) {
  const std::string dimensions = EncodeDimensions(key.dimensions);
  ASSIGN_OR_RETURN(const auto found, FindSeries(connection, key, dimensions));
  if (found) return *found;
  RETURN_IF_ERROR(
      connection.Run("INSERT INTO series(namespace, metric, dimensions) VALUES(?, ?, ?)",
                     key.metric_namespace, key.metric, BlobView{dimensions}));
  const std::int64_t id = connection.LastInsertRowId();
  for (const auto& [name, value] : key.dimensions) {
    RETURN_IF_ERROR(
        connection.Run("INSERT INTO series_dimensions VALUES(?, ?, ?)", name, value, id));
  }
  return id;
}

Status Store(Connection& connection, const std::vector<Series::Sample>& samples) {
  for (const Series::Sample& sample : samples) {
    ASSIGN_OR_RETURN(const std::int64_t id, FindOrMakeSeries(connection, sample.key));
    const Point& p = sample.point;
    RETURN_IF_ERROR(connection.Run(
        "INSERT INTO points VALUES(?1, ?2, (SELECT coalesce(max(place), -1) + 1 FROM points"
        " WHERE series = ?1 AND time = ?2), ?3, ?4, ?5, ?6, ?7)",
        id, ToUnixMillis(p.time), p.value, p.count, p.minimum, p.maximum, p.unit));
  }
  return {};
}

Status CheckSamples(const std::vector<Series::Sample>& samples) {
  for (const Series::Sample& sample : samples) RETURN_IF_ERROR(CheckKey(sample.key));
  return {};
}

Result<std::uint64_t> ReadOffset(Connection& connection, std::string_view source) {
  ASSIGN_OR_RETURN(Statement read,
                   connection.Prepare("SELECT position FROM ingested WHERE source = ?"));
  ASSIGN_OR_RETURN(const bool found, read.BindAll(source).Step());
  return found ? static_cast<std::uint64_t>(read.Int(0)) : 0;
}

bool Matches(const SeriesKey& key, const Series::Filter& filter) {
  for (const auto& [name, value] : filter.dimensions) {
    const auto found = key.dimensions.find(name);
    if (found == key.dimensions.end()) return false;
    if (!value.empty() && found->second != value) return false;
  }
  return true;
}

// The rows that can match, in order; the dimensions beyond the one looked up are compared row by
// row.
Result<Statement> PrepareFind(Connection& connection, const Series::Filter& filter,
                              const SeriesKey* after) {
  const std::pair<const std::string, std::string>* looked_up = nullptr;
  for (const auto& dimension : filter.dimensions) {
    if (!dimension.second.empty()) looked_up = &dimension;
  }
  std::string sql = "SELECT namespace, metric, dimensions FROM series WHERE 1";
  if (!filter.metric_namespace.empty()) sql += " AND namespace = ?1";
  if (!filter.metric.empty()) sql += " AND metric = ?2";
  if (looked_up != nullptr) {
    sql += " AND id IN (SELECT series FROM series_dimensions WHERE name = ?3 AND value = ?4)";
  }
  if (after != nullptr) sql += " AND (namespace, metric, dimensions) > (?5, ?6, ?7)";
  sql += " ORDER BY namespace, metric, dimensions";
  ASSIGN_OR_RETURN(Statement rows, connection.Prepare(sql));
  if (!filter.metric_namespace.empty()) rows.Bind(1, filter.metric_namespace);
  if (!filter.metric.empty()) rows.Bind(2, filter.metric);
  if (looked_up != nullptr) rows.Bind(3, looked_up->first).Bind(4, looked_up->second);
  if (after != nullptr) {
    rows.Bind(5, after->metric_namespace).Bind(6, after->metric);
    rows.Bind(7, BlobView{EncodeDimensions(after->dimensions)});
  }
  return rows;
}

}  // namespace

std::vector<std::string> Series::Migrations() { return {kSchema}; }

Status Series::Put(const std::vector<Sample>& samples) {
  RETURN_IF_ERROR(CheckSamples(samples));
  return database_.Write([&](Connection& connection) { return Store(connection, samples); });
}

Status Series::Ingest(const std::string& source, std::uint64_t old_offset, std::uint64_t new_offset,
                      const std::vector<Sample>& samples) {
  CHECK(new_offset >= old_offset);
  RETURN_IF_ERROR(CheckSamples(samples));
  return database_.Write([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const std::uint64_t stands, ReadOffset(connection, source));
    if (stands != old_offset) {
      return Fail(ErrorCode::kConflict, "'{}' was read up to {}, not {}", source, stands,
                  old_offset);
    }
    RETURN_IF_ERROR(Store(connection, samples));
    return connection.Run(
        "INSERT INTO ingested VALUES(?, ?)"
        " ON CONFLICT(source) DO UPDATE SET position = excluded.position",
        source, new_offset);
  });
}

Result<std::uint64_t> Series::Offset(const std::string& source) {
  std::uint64_t out = 0;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, ReadOffset(connection, source));
    return {};
  }));
  return out;
}

Result<std::vector<Point>> Series::Query(const SeriesKey& key, WallTime start, WallTime end) {
  std::vector<Point> out;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const auto id, FindSeries(connection, key, EncodeDimensions(key.dimensions)));
    if (!id) return {};
    ASSIGN_OR_RETURN(Statement rows,
                     connection.Prepare("SELECT time, value, count, minimum, maximum, unit"
                                        " FROM points WHERE series = ? AND time >= ? AND time < ?"
                                        " ORDER BY time, place"));
    rows.BindAll(*id, ToUnixMillis(start), ToUnixMillis(end));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) return {};
      out.push_back({FromUnixMillis(rows.Int(0)), rows.Double(1), rows.Double(2), rows.Double(3),
                     rows.Double(4), rows.String(5)});
    }
  }));
  return out;
}

Result<std::vector<SeriesKey>> Series::Find(const Filter& filter, const SeriesKey* after,
                                            std::size_t limit) {
  std::vector<SeriesKey> out;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(Statement rows, PrepareFind(connection, filter, after));
    while (out.size() < limit) {
      ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) return {};
      SeriesKey key{rows.String(0), rows.String(1), {}};
      ASSIGN_OR_RETURN(key.dimensions, DecodeDimensions(rows.Blob(2)));
      if (Matches(key, filter)) out.push_back(std::move(key));
    }
    return {};
  }));
  return out;
}

}  // namespace sabia::store
