// How a page is found: two ways, both of which look at a bounded number of rows.
//
// Walk: along the index of the sort order from the page's start, testing the other conditions row
// by row. Quick when most rows pass. Collect: when some condition has an index of its own and few
// rows meet it, read all of those, then sort. Without it, "the jobs of the last hour by name" would
// walk a million names.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/encoding.h"
#include "store/page_token.h"
#include "store/resource_rows.h"

namespace sabia::store {
namespace {

using SortBy = ListQuery::SortBy;

// A condition that at most this many rows meet is worth collecting: about 2 ms of rows.
constexpr std::size_t kCollectMax = 1000;
// Rows that a walk looks at per page: about 2 ms in an order where each lies on another page.
constexpr std::size_t kWalkMax = 1000;
// The same for substrings of names, which have no index: about 100 ms.
constexpr std::size_t kWalkNamesMax = 100'000;
// Documents read per page for a filter that turns them down.
constexpr std::size_t kFilteredMax = 2000;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
// Greater than every name: the last code point of Unicode.
constexpr const char* kLastText = "\xF4\x8F\xBF\xBF";

bool Within(WallTime t, const std::optional<WallTime>& after,
            const std::optional<WallTime>& before) {
  return (!after || t > *after) && (!before || t < *before);
}

PagePosition PositionOf(const ResourceRow& row, SortBy sort_by) {
  const Resource& r = row.resource;
  switch (sort_by) {
    case SortBy::kName:
      return {r.name, 0, 0};
    case SortBy::kCreationTime:
      return {"", ToUnixMillis(r.created), row.id};
    case SortBy::kStatus:
      return {r.status, ToUnixMillis(r.created), row.id};
    case SortBy::kModifiedTime:
      return {"", ToUnixMillis(r.modified), row.id};
  }
  return {};
}

void AppendField(std::string& out, std::string_view text) {
  out += fmt::format("{}:", text.size());
  out += text;
}

void AppendField(std::string& out, const std::optional<WallTime>& time) {
  AppendField(out, time ? std::to_string(ToUnixMillis(*time)) : std::string("-"));
}

void AppendField(std::string& out, const std::optional<std::string>& text) {
  out += text ? '+' : '-';
  AppendField(out, std::string_view(text ? *text : std::string()));
}

// What makes two calls parts of one listing: all but the page size and the token.
std::uint64_t Fingerprint(const TokenKey& key, const ListQuery& query) {
  std::string text = fmt::format("{}/{}/{}/", static_cast<int>(query.kind),
                                 static_cast<int>(query.sort_by), query.ascending);
  AppendField(text, query.status);
  AppendField(text, query.parent);
  AppendField(text, std::string_view(query.name_contains));
  AppendField(text, query.created_after);
  AppendField(text, query.created_before);
  AppendField(text, query.modified_after);
  AppendField(text, query.modified_before);
  AppendField(text, std::string_view(query.filter_identity));
  return SipHash(key, text);
}

// A walk in SQL. Parameters: ?2 text, ?3 number, ?4 id of the start, ?5 the status.
struct WalkOrder {
  const char* index;
  const char* index_in_status;  // among the rows of one status
  const char* key;
  const char* marks;
  const char* ascending;
  const char* descending;
  bool has_text;
  bool has_number;
};
constexpr WalkOrder kWalkName{.index = "resources_by_name",
                              .index_in_status = "resources_by_status_name",
                              .key = "r.name",
                              .marks = "?2",
                              .ascending = "r.name",
                              .descending = "r.name DESC",
                              .has_text = true,
                              .has_number = false};
constexpr WalkOrder kWalkCreated{.index = "resources_by_created",
                                 .index_in_status = "resources_by_status",
                                 .key = "(r.created, r.id)",
                                 .marks = "(?3, ?4)",
                                 .ascending = "r.created, r.id",
                                 .descending = "r.created DESC, r.id DESC",
                                 .has_text = false,
                                 .has_number = true};
constexpr WalkOrder kWalkModified{.index = "resources_by_modified",
                                  .index_in_status = "resources_by_status_modified",
                                  .key = "(r.modified, r.id)",
                                  .marks = "(?3, ?4)",
                                  .ascending = "r.modified, r.id",
                                  .descending = "r.modified DESC, r.id DESC",
                                  .has_text = false,
                                  .has_number = true};
constexpr WalkOrder kWalkStatus{.index = "resources_by_status",
                                .index_in_status = nullptr,  // then the order of creation serves
                                .key = "(r.status, r.created, r.id)",
                                .marks = "(?2, ?3, ?4)",
                                .ascending = "r.status, r.created, r.id",
                                .descending = "r.status DESC, r.created DESC, r.id DESC",
                                .has_text = true,
                                .has_number = true};

const WalkOrder& WalkOrderOf(const ListQuery& query) {
  switch (query.sort_by) {
    case SortBy::kName:
      return kWalkName;
    case SortBy::kCreationTime:
      return kWalkCreated;
    case SortBy::kStatus:
      return query.status ? kWalkCreated : kWalkStatus;
    case SortBy::kModifiedTime:
      return kWalkModified;
  }
  return kWalkCreated;
}

class Lister {
 public:
  Lister(Connection& connection, const ListQuery& query)
      : connection_(connection), query_(query), needle_(ToLower(query.name_contains)) {}

  Result<Page> Run() {
    CHECK(query_.limit > 0);
    ASSIGN_OR_RETURN(const TokenKey key, ReadTokenKey());
    const std::uint64_t fingerprint = Fingerprint(key, query_);
    if (!query_.token.empty()) {
      ASSIGN_OR_RETURN(start_, DecodePageToken(key, fingerprint, query_.token));
    }
    ASSIGN_OR_RETURN(const bool collected, TryCollect());
    if (!collected) RETURN_IF_ERROR(Walk());
    if (more_) page_.next_token = EncodePageToken(key, fingerprint, last_);
    return std::move(page_);
  }

 private:
  // Where a condition can be looked up: the index and the range of its second column.
  struct Range {
    const char* sql;
    std::string_view text;
    std::int64_t low = kMin;
    std::int64_t high = kMax;
  };

  Result<TokenKey> ReadTokenKey() {
    ASSIGN_OR_RETURN(Statement read,
                     connection_.Prepare("SELECT value FROM secrets WHERE name = 'page_token'"));
    ASSIGN_OR_RETURN(const bool found, read.Step());
    TokenKey key;
    if (!found || read.Blob(0).size() != key.size()) {
      return Fail(ErrorCode::kCorrupt, "the key of pagination tokens is missing");
    }
    std::memcpy(key.data(), read.Blob(0).data(), key.size());
    return key;
  }

  bool Matches(const Resource& r) const {
    if (query_.status && r.status != *query_.status) return false;
    if (query_.parent && r.parent != *query_.parent) return false;
    if (!Within(r.created, query_.created_after, query_.created_before)) return false;
    if (!Within(r.modified, query_.modified_after, query_.modified_before)) return false;
    return needle_.empty() || ToLower(r.name).find(needle_) != std::string::npos;
  }

  bool Behind(const PagePosition& position) const {
    if (!start_) return true;
    return query_.ascending ? position > *start_ : position < *start_;
  }

  // Deals with the next row of the order. False: the page ends here.
  Result<bool> Take(ResourceRow row);
  Result<bool> TryCollect();
  std::vector<Range> Ranges() const;
  Result<std::vector<ResourceRow>> Collect(const Range& range, bool& all);
  Status Walk();
  PagePosition StartOfWalk() const;
  Result<Statement> PrepareWalk();
  bool PastEnd(const Resource& r) const;
  // All rows of one status, sorted by status, stand in the order of creation.
  bool WalksByCreation() const {
    return query_.sort_by == SortBy::kCreationTime ||
           (query_.sort_by == SortBy::kStatus && query_.status);
  }

  Connection& connection_;
  const ListQuery& query_;
  const std::string needle_;
  std::optional<PagePosition> start_;  // exclusive
  PagePosition last_;                  // of the last row that the page has dealt with
  std::size_t filtered_ = 0;
  bool more_ = false;
  Page page_;
};

Result<bool> Lister::Take(ResourceRow row) {
  const bool full = page_.rows.size() >= query_.limit;
  PagePosition position = PositionOf(row, query_.sort_by);
  if (Matches(row.resource)) {
    bool passes = true;
    if (query_.filter || !full) RETURN_IF_ERROR(ReadDocument(connection_, row));
    if (query_.filter) passes = query_.filter(row.resource);
    if (passes && full) {  // one row beyond the page: there is another page
      more_ = true;
      return false;
    }
    if (passes) page_.rows.push_back(std::move(row.resource));
    if (!passes && ++filtered_ >= kFilteredMax) more_ = true;
  }
  if (!full) last_ = std::move(position);
  return !more_;
}

// The conditions that have an index, unless the walk itself goes along that index.
std::vector<Lister::Range> Lister::Ranges() const {
  const auto low = [](const std::optional<WallTime>& t) { return t ? ToUnixMillis(*t) : kMin; };
  const auto high = [](const std::optional<WallTime>& t) { return t ? ToUnixMillis(*t) : kMax; };
  const bool by_created = WalksByCreation();
  std::vector<Range> out;
  if (query_.parent && !query_.parent->empty()) {
    out.push_back({"SELECT " SABIA_RESOURCE_COLUMNS
                   " FROM resources r INDEXED BY resources_by_parent"
                   " WHERE r.kind = ?1 AND r.parent = ?2 AND r.parent <> '' LIMIT ?5",
                   *query_.parent});
  }
  if ((query_.created_after || query_.created_before) && !by_created) {
    out.push_back({"SELECT " SABIA_RESOURCE_COLUMNS
                   " FROM resources r INDEXED BY resources_by_created WHERE r.kind = ?1"
                   " AND r.created > ?3 AND r.created < ?4 LIMIT ?5",
                   "", low(query_.created_after), high(query_.created_before)});
  }
  if ((query_.modified_after || query_.modified_before) &&
      query_.sort_by != SortBy::kModifiedTime) {
    out.push_back({"SELECT " SABIA_RESOURCE_COLUMNS
                   " FROM resources r INDEXED BY resources_by_modified WHERE r.kind = ?1"
                   " AND r.modified > ?3 AND r.modified < ?4 LIMIT ?5",
                   "", low(query_.modified_after), high(query_.modified_before)});
  }
  return out;
}

// All rows of the range; `all` is false when there are more than kCollectMax.
Result<std::vector<ResourceRow>> Lister::Collect(const Range& range, bool& all) {
  ASSIGN_OR_RETURN(Statement rows, connection_.Prepare(range.sql));
  rows.BindAll(static_cast<int>(query_.kind), range.text, range.low, range.high, kCollectMax + 1);
  std::vector<ResourceRow> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) break;
    out.push_back(ReadRow(rows, query_.kind));
  }
  all = out.size() <= kCollectMax;
  return out;
}

Result<bool> Lister::TryCollect() {
  for (const Range& range : Ranges()) {
    bool all = false;
    ASSIGN_OR_RETURN(std::vector<ResourceRow> rows, Collect(range, all));
    if (!all) continue;
    std::sort(rows.begin(), rows.end(), [this](const ResourceRow& a, const ResourceRow& b) {
      const PagePosition left = PositionOf(a, query_.sort_by);
      const PagePosition right = PositionOf(b, query_.sort_by);
      return query_.ascending ? left < right : right < left;
    });
    for (ResourceRow& row : rows) {
      if (!Behind(PositionOf(row, query_.sort_by))) continue;
      ASSIGN_OR_RETURN(const bool go_on, Take(std::move(row)));
      if (!go_on) break;
    }
    return true;
  }
  return false;
}

// Behind the far end of a range on the sort key itself no row can match any more.
bool Lister::PastEnd(const Resource& r) const {
  const bool up = query_.ascending;
  if (WalksByCreation()) {
    return up ? query_.created_before && r.created >= *query_.created_before
              : query_.created_after && r.created <= *query_.created_after;
  }
  if (query_.sort_by == SortBy::kModifiedTime) {
    return up ? query_.modified_before && r.modified >= *query_.modified_before
              : query_.modified_after && r.modified <= *query_.modified_after;
  }
  return false;
}

PagePosition Lister::StartOfWalk() const {
  if (start_) return *start_;
  const bool up = query_.ascending;
  // Just outside of the near end of a range on the sort key.
  const auto near = [up](const std::optional<WallTime>& after,
                         const std::optional<WallTime>& before) -> PagePosition {
    if (up) return {"", after ? ToUnixMillis(*after) : kMin, kMax};
    return {"", before ? ToUnixMillis(*before) : kMax, kMin};
  };
  switch (query_.sort_by) {
    case SortBy::kCreationTime:
      return near(query_.created_after, query_.created_before);
    case SortBy::kModifiedTime:
      return near(query_.modified_after, query_.modified_before);
    case SortBy::kName:
      break;
    case SortBy::kStatus:
      if (query_.status) return near(query_.created_after, query_.created_before);
      break;
  }
  return {up ? "" : kLastText, up ? kMin : kMax, up ? kMin : kMax};
}

Result<Statement> Lister::PrepareWalk() {
  const WalkOrder& order = WalkOrderOf(query_);
  const bool in_status = query_.status.has_value();
  const std::string sql =
      fmt::format("SELECT " SABIA_RESOURCE_COLUMNS
                  " FROM resources r INDEXED BY {} WHERE r.kind = ?1{} AND {} {} {} ORDER BY {}",
                  in_status ? order.index_in_status : order.index,
                  in_status ? " AND r.status = ?5" : "", order.key, query_.ascending ? '>' : '<',
                  order.marks, query_.ascending ? order.ascending : order.descending);
  const PagePosition from = StartOfWalk();
  ASSIGN_OR_RETURN(Statement rows, connection_.Prepare(sql));
  rows.Bind(1, static_cast<int>(query_.kind));
  if (order.has_text) rows.Bind(2, from.text);
  if (order.has_number) rows.Bind(3, from.number).Bind(4, from.id);
  if (in_status) rows.Bind(5, *query_.status);
  return rows;
}

Status Lister::Walk() {
  ASSIGN_OR_RETURN(Statement rows, PrepareWalk());
  const std::size_t rows_max = needle_.empty() ? kWalkMax : kWalkNamesMax;
  for (std::size_t seen = 0; !more_; ++seen) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return {};
    ResourceRow row = ReadRow(rows, query_.kind);
    if (PastEnd(row.resource)) return {};
    ASSIGN_OR_RETURN(const bool go_on, Take(std::move(row)));
    if (!go_on) return {};
    if (seen + 1 >= rows_max + page_.rows.size()) more_ = true;
  }
  return {};
}

}  // namespace

Status ReadDocument(Connection& connection, ResourceRow& row) {
  ASSIGN_OR_RETURN(Statement read,
                   connection.Prepare("SELECT document FROM documents WHERE id = ?"));
  ASSIGN_OR_RETURN(const bool found, read.BindAll(row.id).Step());
  if (!found) {
    return Fail(ErrorCode::kCorrupt, "{} '{}' has lost its document", Name(row.resource.kind),
                row.resource.name);
  }
  row.resource.document = read.String(0);
  return {};
}

Result<Page> ListResources(Connection& connection, const ListQuery& query) {
  return Lister(connection, query).Run();
}

}  // namespace sabia::store
