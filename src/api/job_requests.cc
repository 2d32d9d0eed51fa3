#include "api/job_requests.h"

#include "model/limits.h"

namespace sabia::api {
namespace {

std::optional<WallTime> TimeOf(const json::object& request, std::string_view member) {
  const auto seconds = FindDouble(request, member);
  if (!seconds) return std::nullopt;
  return FromUnixSeconds(*seconds);
}

}  // namespace

store::Tags TagsOf(const json::object& request) {
  store::Tags tags;
  const json::array* list = FindArray(request, "Tags");
  if (list == nullptr) return tags;
  for (const json::value& tag : *list) {
    tags.emplace_back(GetString(tag.get_object(), "Key"), GetString(tag.get_object(), "Value"));
  }
  return tags;
}

store::ListQuery ListQueryOf(store::Kind kind, const json::object& request,
                             const ListDefaults& defaults) {
  store::ListQuery query;
  query.kind = kind;
  if (const auto status = FindString(request, "StatusEquals")) query.status = std::string(*status);
  query.name_contains = GetString(request, "NameContains");
  query.created_after = TimeOf(request, "CreationTimeAfter");
  query.created_before = TimeOf(request, "CreationTimeBefore");
  query.modified_after = TimeOf(request, "LastModifiedTimeAfter");
  query.modified_before = TimeOf(request, "LastModifiedTimeBefore");
  const std::string sort = GetString(request, "SortBy", defaults.sort_by);
  query.sort_by = sort == "Name"     ? store::ListQuery::SortBy::kName
                  : sort == "Status" ? store::ListQuery::SortBy::kStatus
                                     : store::ListQuery::SortBy::kCreationTime;
  query.ascending = GetString(request, "SortOrder", defaults.sort_order) == "Ascending";
  query.limit = static_cast<std::size_t>(
      GetInt(request, "MaxResults", static_cast<std::int64_t>(model::kListPageDefault)));
  query.token = GetString(request, "NextToken");
  return query;
}

}  // namespace sabia::api
