// The channels of a job as one host sees them: their specification and their listing files.
//
// Threading: thread-compatible. Errors: kNotFound, kInvalidArgument and kDenied are the user's and
// name channel and URI.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/ports.h"
#include "model/instance.h"

namespace sabia::control {

struct HostChannels {
  std::vector<model::ChannelSpec> channels;
  std::map<std::string, std::string> listings;  // file name → JSON lines
  std::set<std::string> remote_buckets;         // of objects that are no files of this machine
};

// groups: the group of each host of the job, by number; number: 1-based. A channel that names
// instance groups is given to hosts of these groups only, and shared out among them only.
Result<HostChannels> ChannelsOf(const json::object& request, const std::vector<std::string>& groups,
                                int number, ChannelSource& source);

}  // namespace sabia::control
