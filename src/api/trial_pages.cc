#include "api/trial_pages.h"

#include <algorithm>
#include <compare>

#include "base/encoding.h"
#include "model/limits.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::RefuseValidation;

// The place of a trial in the order asked for. Names break ties: they begin alike and count up.
struct Place {
  std::string text;
  double number = 0;
  std::string name;
  auto operator<=>(const Place&) const = default;
};

struct Placed {
  Place place;
  TrialRecord record;
};

bool HasObjective(const TrialRecord& record) {
  return record.trial.objective &&
         record.trial.objective_status == model::ObjectiveStatus::kSucceeded;
}

Place PlaceOf(const TrialRecord& record, std::string_view sort_by) {
  Place out{.name = record.trial.training_job};
  if (sort_by == "CreationTime") {
    out.number = static_cast<double>(ToUnixMillis(record.trial.created));
  }
  if (sort_by == "Status") out.text = TrialStatus(record);
  if (sort_by == "FinalObjectiveMetricValue") out.number = record.trial.objective.value_or(0);
  return out;
}

// What makes two calls parts of one listing: all but the page size and the token.
std::string ListingOf(const json::object& request) {
  return fmt::format("{}/{}/{}/{}", GetString(request, "HyperParameterTuningJobName"),
                     GetString(request, "SortBy", "Name"),
                     GetString(request, "SortOrder", "Ascending"),
                     GetString(request, "StatusEquals"));
}

std::string TokenOf(const std::string& listing, const Place& place) {
  return Base64Encode(json::serialize(json::array{listing, place.text, place.number, place.name}));
}

AwsResult<Place> ReadToken(const std::string& listing, std::string_view token) {
  const auto refuse = [] {
    return RefuseValidation("Invalid NextToken: it is of no earlier page of this listing");
  };
  const auto text = Base64Decode(token);
  if (!text) return refuse();
  const auto value = ParseJson(*text);
  const json::array* parts = value ? value->if_array() : nullptr;
  const bool good = parts != nullptr && parts->size() == 4 && (*parts)[0].is_string() &&
                    (*parts)[1].is_string() && (*parts)[2].is_number() && (*parts)[3].is_string() &&
                    View((*parts)[0].get_string()) == listing;
  if (!good) return refuse();
  return Place{std::string(View((*parts)[1].get_string())), (*parts)[2].to_number<double>(),
               std::string(View((*parts)[3].get_string()))};
}

}  // namespace

AwsResult<TrialPage> PageOfTrials(std::vector<TrialRecord> trials, const json::object& request) {
  const std::string sort_by = GetString(request, "SortBy", "Name");
  const bool ascending = GetString(request, "SortOrder", "Ascending") == "Ascending";
  const std::string status = GetString(request, "StatusEquals");
  std::vector<Placed> all;
  for (TrialRecord& record : trials) {
    if (!status.empty() && TrialStatus(record) != status) continue;
    if (sort_by == "FinalObjectiveMetricValue" && !HasObjective(record)) continue;
    Place place = PlaceOf(record, sort_by);
    all.push_back({std::move(place), std::move(record)});
  }
  const auto before = [&](const Place& a, const Place& b) { return ascending ? a < b : b < a; };
  std::ranges::sort(all, before, &Placed::place);
  const std::string listing = ListingOf(request);
  auto next = all.begin();
  if (const auto token = FindString(request, "NextToken")) {
    ASSIGN_OR_RETURN(const Place last, ReadToken(listing, *token));
    next = std::ranges::upper_bound(all, last, before, &Placed::place);
  }
  const std::int64_t limit =
      GetInt(request, "MaxResults", static_cast<std::int64_t>(model::kListPageDefault));
  TrialPage page;
  for (; next != all.end() && std::ssize(page.trials) < limit; ++next) {
    page.trials.push_back(std::move(next->record));
  }
  if (next != all.end() && !page.trials.empty()) {
    page.next_token = TokenOf(listing, std::prev(next)->place);
  }
  return page;
}

}  // namespace sabia::api
