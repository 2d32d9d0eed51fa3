#include "store/ledger.h"

#include "base/json.h"

namespace sabia::store {
namespace {

// Lines come in the order in which uses end, or nearly: an index by end grows at its end. Tags are
// a JSON list of pairs, or NULL for none.
constexpr const char* kSchema = R"sql(
CREATE TABLE ledger(
  id INTEGER PRIMARY KEY,
  instance TEXT NOT NULL,
  kind INTEGER NOT NULL,
  job TEXT NOT NULL,
  arn TEXT NOT NULL,
  region TEXT NOT NULL,
  account TEXT NOT NULL,
  instance_type TEXT NOT NULL,
  waited_from INTEGER NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  lost_from INTEGER,
  price_date TEXT NOT NULL,
  price_region TEXT NOT NULL,
  on_demand_nanos INTEGER NOT NULL,
  nanos INTEGER NOT NULL,
  tags TEXT
) STRICT;
CREATE UNIQUE INDEX ledger_by_instance ON ledger(instance, kind);
CREATE INDEX ledger_by_end ON ledger(end)
)sql";

#define SABIA_LEDGER_COLUMNS                                                                      \
  "instance, kind, job, arn, region, account, instance_type, waited_from, start, end, lost_from," \
  " price_date, price_region, on_demand_nanos, nanos, tags"

std::vector<std::pair<std::string, std::string>> TagsOf(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  if (text.empty()) return out;
  const auto list = ParseJson(text);
  if (!list || !list->is_array()) return out;
  for (const json::value& pair : list->get_array()) {
    if (!pair.is_array() || pair.get_array().size() != 2) continue;
    const json::value& key = pair.get_array()[0];
    const json::value& value = pair.get_array()[1];
    if (key.is_string() && value.is_string())
      out.emplace_back(key.get_string(), value.get_string());
  }
  return out;
}

model::LedgerEntry ReadEntry(const Statement& row) {
  model::LedgerEntry out;
  out.instance = row.String(0);
  out.kind = static_cast<model::LedgerKind>(row.Int(1));
  out.job_name = row.String(2);
  out.job_arn = row.String(3);
  out.region = row.String(4);
  out.account = row.String(5);
  out.instance_type = row.String(6);
  out.waited_from = FromUnixMillis(row.Int(7));
  out.start = FromUnixMillis(row.Int(8));
  out.end = FromUnixMillis(row.Int(9));
  if (!row.IsNull(10)) out.lost_from = FromUnixMillis(row.Int(10));
  out.price_date = row.String(11);
  out.price_region = row.String(12);
  out.on_demand_per_hour = Money::FromNanos(row.Int(13));
  out.per_hour = Money::FromNanos(row.Int(14));
  out.tags = TagsOf(row.Text(15));
  return out;
}

Status VisitAll(Statement& rows, const Ledger::Visitor& visitor) {
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return {};
    visitor(ReadEntry(rows));
  }
}

}  // namespace

std::vector<std::string> Ledger::Migrations() { return {kSchema}; }

Status Ledger::Append(Connection& connection, const model::LedgerEntry& entry) {
  std::optional<std::int64_t> lost;
  if (entry.lost_from) lost = ToUnixMillis(*entry.lost_from);
  return connection.Run(
      "INSERT INTO ledger(" SABIA_LEDGER_COLUMNS
      ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
      " (SELECT json_group_array(json_array(key, value)) FROM"
      "  (SELECT key, value FROM tags WHERE arn = ?4 ORDER BY place) HAVING count(*) > 0))"
      " ON CONFLICT(instance, kind) DO NOTHING",
      entry.instance, static_cast<int>(entry.kind), entry.job_name, entry.job_arn, entry.region,
      entry.account, entry.instance_type, ToUnixMillis(entry.waited_from),
      ToUnixMillis(entry.start), ToUnixMillis(entry.end), lost, entry.price_date,
      entry.price_region, entry.on_demand_per_hour.nanos(), entry.per_hour.nanos());
}

Status Ledger::Visit(WallTime from, WallTime to, const Visitor& visitor) {
  return database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(
        Statement rows,
        connection.Prepare("SELECT " SABIA_LEDGER_COLUMNS " FROM ledger INDEXED BY ledger_by_end"
                           " WHERE end > ? AND waited_from < ? ORDER BY end, id"));
    return VisitAll(rows.BindAll(ToUnixMillis(from), ToUnixMillis(to)), visitor);
  });
}

Result<std::vector<model::LedgerEntry>> Ledger::OfJob(std::string_view uid) {
  std::vector<model::LedgerEntry> out;
  // "-" is followed by "." in ASCII: all that begins with "<uid>-".
  const std::string from = std::string(uid) + "-";
  const std::string to = std::string(uid) + ".";
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(Statement rows,
                     connection.Prepare("SELECT " SABIA_LEDGER_COLUMNS
                                        " FROM ledger WHERE instance >= ? AND instance < ?"
                                        " ORDER BY id"));
    return VisitAll(rows.BindAll(from, to),
                    [&](model::LedgerEntry entry) { out.push_back(std::move(entry)); });
  }));
  return out;
}

}  // namespace sabia::store
