#include "store/resources.h"

#include <algorithm>

#include "base/check.h"
#include "store/ledger.h"
#include "store/resource_rows.h"

namespace sabia::store {
namespace {

// The document lies apart from the columns that lists look at: those rows stay small, some thirty
// to a page, and a walk over them reads no documents. An index ends with the row's id, so (kind,
// created) orders by (created, id).
constexpr const char* kSchema = R"sql(
CREATE TABLE resources(
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  live INTEGER NOT NULL,
  parent TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;
CREATE TABLE documents(id INTEGER PRIMARY KEY, document TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX resources_by_name ON resources(kind, name);
CREATE INDEX resources_by_created ON resources(kind, created);
CREATE INDEX resources_by_status ON resources(kind, status, created);
CREATE INDEX resources_by_status_name ON resources(kind, status, name);
CREATE INDEX resources_by_status_modified ON resources(kind, status, modified);
CREATE INDEX resources_by_modified ON resources(kind, modified);
CREATE INDEX resources_by_parent ON resources(kind, parent) WHERE parent <> '';
CREATE INDEX resources_live ON resources(kind) WHERE live <> 0;
CREATE TABLE tags(
  arn TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY(arn, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE secrets(name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO secrets VALUES('page_token', randomblob(16))
)sql";

int Number(Kind kind) { return static_cast<int>(kind); }

Status CheckTagCount(Connection& connection, const std::string& arn) {
  ASSIGN_OR_RETURN(Statement count, connection.Prepare("SELECT count(*) FROM tags WHERE arn = ?"));
  ASSIGN_OR_RETURN(const bool row, count.BindAll(arn).Step());
  CHECK(row);
  if (count.Int(0) <= static_cast<std::int64_t>(kTagsMax)) return {};
  return Fail(ErrorCode::kResourceExhausted, "'{}' would have {} tags; at most {} are allowed", arn,
              count.Int(0), kTagsMax);
}

Status SetTags(Connection& connection, const Change& change) {
  if (change.tags.empty()) return {};
  CHECK(!change.arn.empty());
  for (const auto& [key, value] : change.tags) {
    RETURN_IF_ERROR(
        connection.Run("INSERT INTO tags(arn, key, value, place) VALUES(?1, ?2, ?3,"
                       " (SELECT coalesce(max(place), 0) + 1 FROM tags WHERE arn = ?1))"
                       " ON CONFLICT(arn, key) DO UPDATE SET value = excluded.value",
                       change.arn, key, value));
  }
  return CheckTagCount(connection, change.arn);
}

Status RemoveTags(Connection& connection, const Change& change) {
  CHECK(!change.arn.empty());
  for (const auto& [key, value] : change.tags) {
    RETURN_IF_ERROR(connection.Run("DELETE FROM tags WHERE arn = ? AND key = ?", change.arn, key));
  }
  return {};
}

Status RemoveAllTags(Connection& connection, const std::string& arn) {
  if (arn.empty()) return {};
  return connection.Run("DELETE FROM tags WHERE arn = ?", arn);
}

Status Insert(Connection& connection, const Change& change) {
  const Resource& r = change.resource;
  Status inserted = connection.Run(
      "INSERT INTO resources(kind, name, status, created, modified, live, parent, revision)"
      " VALUES(?, ?, ?, ?, ?, ?, ?, 1)",
      Number(r.kind), r.name, r.status, ToUnixMillis(r.created), ToUnixMillis(r.modified), r.live,
      r.parent);
  if (!inserted) {
    if (inserted.error().code != ErrorCode::kAlreadyExists) return inserted;
    return Fail(ErrorCode::kAlreadyExists, "{} '{}' exists already", Name(r.kind), r.name);
  }
  RETURN_IF_ERROR(connection.Run("INSERT INTO documents(id, document) VALUES(?, ?)",
                                 connection.LastInsertRowId(), r.document));
  RETURN_IF_ERROR(RemoveAllTags(connection, change.arn));
  return SetTags(connection, change);
}

// The compare of compare-and-set: the row's id, if it still stands at the revision that the caller
// read.
Result<std::int64_t> FindAtRevision(Connection& connection, const Resource& wanted) {
  ASSIGN_OR_RETURN(
      Statement find,
      connection.Prepare("SELECT id, revision FROM resources WHERE kind = ? AND name = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(Number(wanted.kind), wanted.name).Step());
  if (!found) {
    return Fail(ErrorCode::kNotFound, "there is no {} '{}'", Name(wanted.kind), wanted.name);
  }
  if (find.Int(1) != wanted.revision) {
    return Fail(ErrorCode::kConflict, "{} '{}' is at revision {}, not {}", Name(wanted.kind),
                wanted.name, find.Int(1), wanted.revision);
  }
  return find.Int(0);
}

Status Update(Connection& connection, const Resource& r) {
  ASSIGN_OR_RETURN(const std::int64_t id, FindAtRevision(connection, r));
  RETURN_IF_ERROR(connection.Run(
      "UPDATE resources SET status = ?, modified = max(modified, ?), live = ?, parent = ?,"
      " revision = revision + 1 WHERE id = ?",
      r.status, ToUnixMillis(r.modified), r.live, r.parent, id));
  return connection.Run("UPDATE documents SET document = ? WHERE id = ?", r.document, id);
}

Status Delete(Connection& connection, const Change& change) {
  ASSIGN_OR_RETURN(const std::int64_t id, FindAtRevision(connection, change.resource));
  RETURN_IF_ERROR(connection.Run("DELETE FROM resources WHERE id = ?", id));
  RETURN_IF_ERROR(connection.Run("DELETE FROM documents WHERE id = ?", id));
  return RemoveAllTags(connection, change.arn);
}

Status Apply(Connection& connection, const Change& change) {
  switch (change.op) {
    case Change::Op::kInsert:
      return Insert(connection, change);
    case Change::Op::kUpdate:
      return Update(connection, change.resource);
    case Change::Op::kDelete:
      return Delete(connection, change);
    case Change::Op::kSetTags:
      return SetTags(connection, change);
    case Change::Op::kRemoveTags:
      return RemoveTags(connection, change);
  }
  return Fail(ErrorCode::kInternal, "unknown change");
}

Status ApplyAll(Connection& connection, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    RETURN_IF_ERROR(Apply(connection, change));
    for (const model::LedgerEntry& entry : change.ledger)
      RETURN_IF_ERROR(Ledger::Append(connection, entry));
  }
  return {};
}

Status ReadAll(Statement& rows, Kind kind, std::vector<Resource>& out) {
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return {};
    out.push_back(ReadRow(rows, kind).resource);
    out.back().document = rows.String(8);
  }
}

}  // namespace

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kTrainingJob:
      return "training job";
    case Kind::kInstance:
      return "instance";
    case Kind::kTrialComponent:
      return "trial component";
    case Kind::kTuningJob:
      return "tuning job";
    case Kind::kTuningTrial:
      return "trial";
  }
  return "resource";
}

Resources::Resources(Database& database) : database_(database) {}

std::vector<std::string> Resources::Migrations() { return {kSchema}; }

Result<Resource> Resources::Get(Kind kind, std::string_view name) {
  Resource out;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(Statement find,
                     connection.Prepare("SELECT " SABIA_RESOURCE_COLUMNS
                                        ", d.document FROM resources r JOIN documents d"
                                        " ON d.id = r.id WHERE r.kind = ? AND r.name = ?"));
    ASSIGN_OR_RETURN(const bool found, find.BindAll(Number(kind), name).Step());
    if (!found) return Fail(ErrorCode::kNotFound, "there is no {} '{}'", Name(kind), name);
    out = ReadRow(find, kind).resource;
    out.document = find.String(8);
    return {};
  }));
  return out;
}

Result<Page> Resources::List(const ListQuery& query) {
  Page page;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(page, ListResources(connection, query));
    return {};
  }));
  return page;
}

Result<std::vector<Resource>> Resources::Live(Kind kind) {
  std::vector<Resource> out;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(Statement rows,
                     connection.Prepare("SELECT " SABIA_RESOURCE_COLUMNS
                                        ", d.document FROM resources r INDEXED BY resources_live"
                                        " JOIN documents d ON d.id = r.id"
                                        " WHERE r.kind = ? AND r.live <> 0 ORDER BY r.id"));
    return ReadAll(rows.BindAll(Number(kind)), kind, out);
  }));
  return out;
}

Result<std::vector<Resource>> Resources::Children(Kind kind, std::string_view parent) {
  std::vector<Resource> out;
  if (parent.empty()) return out;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(
        Statement rows,
        connection.Prepare("SELECT " SABIA_RESOURCE_COLUMNS
                           ", d.document FROM resources r INDEXED BY resources_by_parent"
                           " JOIN documents d ON d.id = r.id"
                           " WHERE r.kind = ? AND r.parent = ? AND r.parent <> '' ORDER BY r.id"));
    return ReadAll(rows.BindAll(Number(kind), parent), kind, out);
  }));
  return out;
}

Status Resources::Commit(const std::vector<Change>& changes) {
  RETURN_IF_ERROR(
      database_.Write([&](Connection& connection) { return ApplyAll(connection, changes); }));
  Tell(changes);
  return {};
}

void Resources::CommitLater(std::vector<Change> changes, Database::Done done) {
  const auto kept = std::make_shared<const std::vector<Change>>(std::move(changes));
  database_.WriteLater([kept](Connection& connection) { return ApplyAll(connection, *kept); },
                       [this, kept, done = std::move(done)](Status status) {
                         if (status) Tell(*kept);
                         done(std::move(status));
                       });
}

void Resources::Tell(const std::vector<Change>& changes) const {
  if (!listener_) return;
  for (const Change& change : changes) {
    if (!change.resource.name.empty() && !change.silent)
      listener_(change.resource.kind, change.resource.name);
  }
}

Result<Tags> Resources::GetTags(std::string_view arn) {
  Tags out;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(
        Statement rows,
        connection.Prepare("SELECT key, value FROM tags WHERE arn = ? ORDER BY place"));
    rows.BindAll(arn);
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) return {};
      out.emplace_back(rows.String(0), rows.String(1));
    }
  }));
  return out;
}

void Resources::OnCommit(std::function<void(Kind, const std::string&)> listener) {
  listener_ = std::move(listener);
}

}  // namespace sabia::store
