// What `sabia jobs` and `sabia tune list` have in common: options, pages, times.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "cli/client.h"

namespace sabia::cli {

struct ListArguments {
  std::string status;
  std::string contains;
  int limit = 20;
  bool as_json = false;
};

// --status, --contains, --limit and --json; things: "jobs", for the help.
void AddListOptions(CLI::App& command, std::string_view things, ListArguments& arguments);

// Newest first. member: of the summaries in the answers.
Result<json::array> ListNewest(Client& client, const std::string& action, std::string_view member,
                               const ListArguments& arguments);

// A time of a summary as a person reads it; "-" when there is none.
std::string TimeOf(const json::object& summary, std::string_view member);

}  // namespace sabia::cli
