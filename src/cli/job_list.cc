#include "cli/job_list.h"

#include <algorithm>

namespace sabia::cli {
namespace {

constexpr int kPageMax = 100;

}  // namespace

void AddListOptions(CLI::App& command, std::string_view things, ListArguments& arguments) {
  command.add_option("--status", arguments.status, fmt::format("Only {} of this status", things))
      ->check(CLI::IsMember({"InProgress", "Completed", "Failed", "Stopping", "Stopped"}));
  command.add_option("--contains", arguments.contains, "Only names that contain this");
  command.add_option("--limit", arguments.limit, "At most so many, newest first")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_flag("--json", arguments.as_json, "Print JSON");
}

Result<json::array> ListNewest(Client& client, const std::string& action, std::string_view member,
                               const ListArguments& arguments) {
  json::array out;
  json::object input{{"SortBy", "CreationTime"}, {"SortOrder", "Descending"}};
  if (!arguments.status.empty()) input["StatusEquals"] = arguments.status;
  if (!arguments.contains.empty()) input["NameContains"] = arguments.contains;
  while (static_cast<int>(out.size()) < arguments.limit) {
    input["MaxResults"] = std::min(kPageMax, arguments.limit - static_cast<int>(out.size()));
    ASSIGN_OR_RETURN(const json::object page, client.SageMaker(action, input));
    if (const json::array* rows = FindArray(page, member)) {
      for (const json::value& row : *rows) out.push_back(row);
    }
    const std::string token = GetString(page, "NextToken");
    if (token.empty()) break;
    input["NextToken"] = token;
  }
  return out;
}

std::string TimeOf(const json::object& summary, std::string_view member) {
  const auto seconds = FindDouble(summary, member);
  return seconds ? LocalTime(FromUnixSeconds(*seconds)) : "-";
}

}  // namespace sabia::cli
