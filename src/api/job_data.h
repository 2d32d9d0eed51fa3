// How a job's data reached its program, for `sabia data stat`, behind /-/data: an extension, not
// part of the AWS API.
//
// {"TrainingJobName"} → {"TrainingJobName", "Final", "Channels": [{"ChannelName", "InputMode",
// "Way"
//   ("view": links, nothing was copied; "copy", "download", "pipe"), "Hosts" (one per host and
//   attempt), "Objects", "Bytes", and of Pipe channels "Epochs", "EpochsDelivered", "EpochsCut",
//   "ServedSeconds", "StarvedSeconds", "BlockedSeconds", "UnopenedSeconds", "BytesPerSecond"?}]}
// Sums over the hosts of all attempts; of running ones as their agents last reported.
//
// Threading: thread-safe.
#pragma once

#include <functional>
#include <optional>

#include "model/instance.h"
#include "store/resources.h"
#include "wire/action.h"

namespace sabia::api {

// The last report of an instance; nothing when there is none.
using ReportOf = std::function<std::optional<model::Report>(const std::string& instance_id)>;

wire::AwsResult<json::object> DescribeJobData(store::Resources& resources,
                                              const ReportOf& report_of,
                                              const json::object& request);

}  // namespace sabia::api
