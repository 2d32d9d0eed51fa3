#include <limits>

#include "objects/columns.h"
#include "objects/key_scope.h"
#include "objects/object_index.h"

namespace sabia::objects::index {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;

// Both tables, read in step: key by key, the current version before the others.
const std::string kCurrent = fmt::format("SELECT {}, version, seq, 0 FROM objects", kListedColumns);
const std::string kOlder =
    fmt::format("SELECT {}, version, seq, marker FROM versions", kListedColumns);

std::string Sql(std::string_view select, std::string_view where, std::string_view order) {
  return fmt::format("{} WHERE bucket = ? AND {} ORDER BY {}", select, where, order);
}
const std::string kCurrentFrom = Sql(kCurrent, "key >= ?", "key");
const std::string kOlderFrom = Sql(kOlder, "key >= ?", "key, seq DESC");
const std::string kCurrentOf = Sql(kCurrent, "key = ? AND seq < ?", "key");
const std::string kOlderOf = Sql(kOlder, "key = ? AND seq < ?", "seq DESC");

constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::max();

// A statement and whether it stands on a row.
struct Cursor {
  Statement rows;
  bool has = false;
  std::string_view Key() const { return rows.Blob(0); }
  std::int64_t Sequence() const { return rows.Int(9); }
  Status Advance() {
    ASSIGN_OR_RETURN(has, rows.Step());
    return {};
  }
};

Result<ObjectInfo> ObjectFrom(const Statement& row) {
  ASSIGN_OR_RETURN(ObjectInfo out, ListedFrom(row));
  out.version_id = row.String(8);
  out.delete_marker = row.Int(10) != 0;
  return out;
}

class VersionLister {
 public:
  VersionLister(Connection& connection, BucketId bucket, const ListVersionsOptions& options)
      : connection_(connection),
        bucket_(bucket),
        options_(options),
        scope_{options.prefix, options.delimiter} {}

  Result<VersionListing> Run() {
    if (options_.limit == 0) return std::move(out_);
    const std::string& marker = options_.key_marker;
    if (options_.version_marker && !marker.empty() && marker.starts_with(options_.prefix) &&
        !scope_.CommonPrefixEnd(marker)) {
      RETURN_IF_ERROR(ListRestOf(marker));
    }
    RETURN_IF_ERROR(ListFrom(scope_.FirstKey(marker)));
    return std::move(out_);
  }

 private:
  // The number of the version that the last page ended with. A null version that is gone meanwhile
  // has none: its key is shown again from the start, for a version may come twice but never be
  // missed.
  Result<std::int64_t> MarkerSequence(std::string_view key) {
    const std::string& version = *options_.version_marker;
    if (!version.empty()) return SequenceOf(version).value_or(kNewest);
    for (const char* sql :
         {"SELECT seq FROM objects WHERE bucket = ? AND key = ? AND version = ''",
          "SELECT seq FROM versions WHERE bucket = ? AND key = ? AND version = ''"}) {
      ASSIGN_OR_RETURN(Statement find, connection_.Prepare(sql));
      ASSIGN_OR_RETURN(const bool found, find.BindAll(bucket_, BlobView{key}).Step());
      if (found) return find.Int(0);
    }
    return kNewest;
  }

  Status ListRestOf(const std::string& key) {
    ASSIGN_OR_RETURN(const std::int64_t before, MarkerSequence(key));
    bool first = true;  // nothing newer is left of the key
    {
      ASSIGN_OR_RETURN(Statement newer,
                       connection_.Prepare("SELECT 1 FROM versions WHERE bucket = ? AND key = ? "
                                           "AND seq >= ? LIMIT 1"));
      ASSIGN_OR_RETURN(const bool any, newer.BindAll(bucket_, BlobView{key}, before).Step());
      ASSIGN_OR_RETURN(Statement current,
                       connection_.Prepare("SELECT 1 FROM objects WHERE bucket = ? AND key = ? "
                                           "AND seq >= ?"));
      ASSIGN_OR_RETURN(const bool is_newer, current.BindAll(bucket_, BlobView{key}, before).Step());
      first = !any && !is_newer;
    }
    for (const std::string* sql : {&kCurrentOf, &kOlderOf}) {
      ASSIGN_OR_RETURN(Statement rows, connection_.Prepare(*sql));
      rows.BindAll(bucket_, BlobView{key}, before);
      while (true) {
        ASSIGN_OR_RETURN(const bool row, rows.Step());
        if (!row) break;
        if (!Fits()) return {};
        RETURN_IF_ERROR(Show(rows, first));
        first = false;
      }
    }
    return {};
  }

  Status ListFrom(std::optional<std::string> from) {
    ASSIGN_OR_RETURN(Statement current_rows, connection_.Prepare(kCurrentFrom));
    ASSIGN_OR_RETURN(Statement older_rows, connection_.Prepare(kOlderFrom));
    Cursor current{std::move(current_rows)};
    Cursor older{std::move(older_rows)};
    while (from && !out_.truncated) {
      for (Cursor* cursor : {&current, &older}) {
        cursor->rows.Rewind();
        cursor->rows.BindAll(bucket_, BlobView{*from});
        RETURN_IF_ERROR(cursor->Advance());
      }
      ASSIGN_OR_RETURN(from, Merge(current, older));
    }
    return {};
  }

  // Until the first key that folds into a common prefix; gives the key behind that prefix.
  Result<std::optional<std::string>> Merge(Cursor& current, Cursor& older) {
    std::string last_key;
    bool any = false;
    while (current.has || older.has) {
      const bool is_current = current.has && (!older.has || current.Key() <= older.Key());
      Cursor& next = is_current ? current : older;
      const std::string_view key = next.Key();
      if (!key.starts_with(options_.prefix)) return std::nullopt;
      if (!Fits()) return std::nullopt;
      if (const auto end = scope_.CommonPrefixEnd(key)) {
        out_.next_key_marker = std::string(key.substr(0, *end));
        out_.next_version_marker.reset();
        out_.common_prefixes.push_back(out_.next_key_marker);
        ++count_;
        return AfterPrefix(out_.next_key_marker);
      }
      RETURN_IF_ERROR(Show(next.rows, is_current || !any || key != last_key));
      any = true;
      last_key = key;
      RETURN_IF_ERROR(next.Advance());
    }
    return std::nullopt;
  }

  bool Fits() {
    if (count_ < options_.limit) return true;
    out_.truncated = true;
    return false;
  }

  Status Show(const Statement& row, bool latest) {
    ASSIGN_OR_RETURN(ObjectInfo object, ObjectFrom(row));
    out_.next_key_marker = object.key;
    out_.next_version_marker = object.version_id;
    out_.versions.push_back({std::move(object), latest});
    ++count_;
    return {};
  }

  Connection& connection_;
  const BucketId bucket_;
  const ListVersionsOptions& options_;
  const KeyScope scope_;
  std::size_t count_ = 0;
  VersionListing out_;
};

}  // namespace

Result<VersionListing> ListVersions(Connection& connection, BucketId bucket,
                                    const ListVersionsOptions& options) {
  ASSIGN_OR_RETURN(VersionListing out, VersionLister(connection, bucket, options).Run());
  if (!out.truncated) {
    out.next_key_marker.clear();
    out.next_version_marker.reset();
  }
  return out;
}

}  // namespace sabia::objects::index
