#include "api/logs.h"

#include <algorithm>

#include "api/log_events.h"
#include "api/log_requests.h"
#include "base/encoding.h"
#include "model/limits.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::CallContext;

AwsResult<json::object> CreateLogGroup(store::LogStore& logs, const CallContext&,
                                       const json::object& request) {
  RETURN_IF_ERROR(RefuseMembers(request, {"kmsKeyId", "tags", "deletionProtectionEnabled"}));
  const std::string kind = GetString(request, "logGroupClass", "STANDARD");
  if (kind != "STANDARD")
    return RefuseParameter("logGroupClass {} is not supported: use STANDARD", kind);
  const Status created = logs.CreateGroup(GetString(request, "logGroupName"));
  if (!created) return RefuseLogError(created.error());
  return json::object{};
}

AwsResult<json::object> CreateLogStream(store::LogStore& logs, const CallContext&,
                                        const json::object& request) {
  const Status created =
      logs.CreateStream(GetString(request, "logGroupName"), GetString(request, "logStreamName"));
  if (!created) return RefuseLogError(created.error());
  return json::object{};
}

AwsResult<json::object> DeleteLogGroup(store::LogStore& logs, const CallContext&,
                                       const json::object& request) {
  const Status deleted = logs.DeleteGroup(GetString(request, "logGroupName"));
  if (!deleted) return RefuseLogError(deleted.error());
  return json::object{};
}

AwsResult<json::object> DeleteLogStream(store::LogStore& logs, const CallContext&,
                                        const json::object& request) {
  const Status deleted =
      logs.DeleteStream(GetString(request, "logGroupName"), GetString(request, "logStreamName"));
  if (!deleted) return RefuseLogError(deleted.error());
  return json::object{};
}

// Tokens carry the last key of a page, so that pages are stable while entries are added.
std::string ToToken(std::string_view key) { return Base64Encode(fmt::format("v1/{}", key)); }

AwsResult<std::string> FromToken(const json::object& request) {
  const auto token = FindString(request, "nextToken");
  if (!token) return std::string();
  const auto text = Base64Decode(*token);
  if (!text || !text->starts_with("v1/"))
    return RefuseParameter("The specified nextToken is invalid.");
  return text->substr(3);
}

std::size_t LimitOf(const json::object& request, std::size_t fallback) {
  return static_cast<std::size_t>(GetInt(request, "limit", static_cast<std::int64_t>(fallback)));
}

AwsResult<json::object> DescribeLogGroups(store::LogStore& logs, const CallContext& context,
                                          const json::object& request) {
  RETURN_IF_ERROR(RefuseMembers(
      request, {"accountIdentifiers", "includeLinkedAccounts", "logGroupIdentifiers"}));
  if (request.contains("logGroupNamePrefix") && request.contains("logGroupNamePattern")) {
    return RefuseParameter("logGroupNamePrefix and logGroupNamePattern cannot be combined");
  }
  const std::string pattern = GetString(request, "logGroupNamePattern");
  ASSIGN_OR_RETURN(const std::string after, FromToken(request));
  const auto groups = logs.Groups(GetString(request, "logGroupNamePrefix"));
  if (!groups) return RefuseLogError(groups.error());
  const std::size_t limit = LimitOf(request, model::kLogStreamsPageMax);
  const bool other_class = GetString(request, "logGroupClass", "STANDARD") != "STANDARD";
  json::object out;
  json::array list;
  std::string last;
  for (const std::string& group : *groups) {
    if (other_class || group <= after || group.find(pattern) == std::string::npos) continue;
    if (list.size() == limit) {
      out["nextToken"] = ToToken(last);
      break;
    }
    const auto info = logs.Group(group);
    if (!info && info.error().code == ErrorCode::kNotFound) continue;  // deleted meanwhile
    if (!info) return RefuseLogError(info.error());
    const std::string arn = LogGroupArn(context, group);
    list.push_back({{"logGroupName", group},
                    {"creationTime", ToUnixMillis(info->created)},
                    {"storedBytes", info->stored_bytes},
                    {"arn", arn + ":*"},
                    {"logGroupArn", arn},
                    {"logGroupClass", "STANDARD"},
                    {"metricFilterCount", 0}});
    last = group;
  }
  out["logGroups"] = std::move(list);
  return out;
}

json::object ToJson(const CallContext& context, const std::string& group,
                    const store::LogStreamInfo& stream) {
  json::object out{
      {"logStreamName", stream.name},
      {"creationTime", ToUnixMillis(stream.created)},
      {"arn", fmt::format("{}:log-stream:{}", LogGroupArn(context, group), stream.name)},
      {"storedBytes", stream.stored_bytes}};
  if (stream.first_event) out["firstEventTimestamp"] = ToUnixMillis(*stream.first_event);
  if (stream.last_event) {
    out["lastEventTimestamp"] = ToUnixMillis(*stream.last_event);
    out["lastIngestionTime"] = ToUnixMillis(*stream.last_event);
  }
  return out;
}

// What the streams are ordered by, as text that compares like it.
std::string SortKey(const store::LogStreamInfo& stream, bool by_time) {
  if (!by_time) return stream.name;
  const std::int64_t time = stream.last_event ? ToUnixMillis(*stream.last_event) : 0;
  return fmt::format("{:020}/{}", std::max<std::int64_t>(time, 0), stream.name);
}

AwsResult<json::object> DescribeLogStreams(store::LogStore& logs, const CallContext& context,
                                           const json::object& request) {
  ASSIGN_OR_RETURN(const std::string group, LogGroupOf(request));
  const std::string prefix = GetString(request, "logStreamNamePrefix");
  const bool by_time = GetString(request, "orderBy", "LogStreamName") == "LastEventTime";
  if (by_time && !prefix.empty()) {
    return RefuseParameter("Cannot order by LastEventTime with a logStreamNamePrefix.");
  }
  const bool descending = GetBool(request, "descending");
  ASSIGN_OR_RETURN(const std::string after, FromToken(request));
  const std::size_t limit = LimitOf(request, model::kLogStreamsPageMax);
  store::LogStore::StreamQuery query{.group = group, .prefix = prefix, .after = "", .limit = 0};
  const bool in_store_order = !by_time && !descending;
  if (in_store_order) query.after = after;
  query.limit = in_store_order ? limit + 1 : model::kLogStreamsSortMax + 1;
  const auto streams = logs.Streams(query);
  if (!streams) return RefuseLogError(streams.error());
  if (streams->size() > model::kLogStreamsSortMax) {
    return RefuseParameter(
        "The log group has more than {} streams: order by LogStreamName, ascending",
        model::kLogStreamsSortMax);
  }
  std::vector<std::pair<std::string, const store::LogStreamInfo*>> rest;
  for (const store::LogStreamInfo& stream : *streams) {
    std::string key = SortKey(stream, by_time);
    const bool seen = !after.empty() && (descending ? key >= after : key <= after);
    if (!seen) rest.emplace_back(std::move(key), &stream);
  }
  std::sort(rest.begin(), rest.end());
  if (descending) std::reverse(rest.begin(), rest.end());

  json::object out;
  json::array list;
  for (std::size_t i = 0; i < std::min(limit, rest.size()); ++i) {
    list.push_back(ToJson(context, group, *rest[i].second));
  }
  if (rest.size() > limit) out["nextToken"] = ToToken(rest[limit - 1].first);
  out["logStreams"] = std::move(list);
  return out;
}

struct Batch {
  std::vector<store::LogEvent> events;
  json::object rejected;
};

// The rules of PutLogEvents: size, order, span, and the window around now outside which events are
// dropped.
AwsResult<Batch> ReadBatch(const json::array& list, WallTime now) {
  Batch batch;
  std::size_t bytes = 0;
  std::optional<WallTime> first, last;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json::object& event = list[i].get_object();
    const std::string_view message = FindString(event, "message").value_or("");
    const WallTime time = FromUnixMillis(GetInt(event, "timestamp"));
    bytes += message.size() + model::kPutLogEventOverheadBytes;
    if (message.size() > model::kPutLogEventBytesMax) {
      return RefuseParameter("Log event too large: {} bytes exceeds limit of {}", message.size(),
                             model::kPutLogEventBytesMax);
    }
    if (last && time < *last) {
      return RefuseParameter(
          "Log events in a single PutLogEvents request must be in chronological order.");
    }
    if (!first) first = time;
    last = time;
    if (time - *first > model::kPutLogBatchSpanMax) {
      return RefuseParameter(
          "The batch of log events in a single PutLogEvents request cannot span more than 24 "
          "hours.");
    }
    if (time > now + model::kPutLogFutureMax) {
      if (!batch.rejected.contains("tooNewLogEventStartIndex")) {
        batch.rejected["tooNewLogEventStartIndex"] = i;
      }
    } else if (time < now - model::kPutLogPastMax) {
      batch.rejected["tooOldLogEventEndIndex"] = i + 1;
    } else {
      batch.events.push_back({time, now, std::string(message), 0});
    }
  }
  if (bytes > model::kPutLogBatchBytesMax) {
    return RefuseParameter("Upload too large: {} bytes exceeds limit of {}", bytes,
                           model::kPutLogBatchBytesMax);
  }
  return batch;
}

AwsResult<json::object> PutLogEvents(store::LogStore& logs, const CallContext& context,
                                     const json::object& request) {
  // sequenceToken is accepted in any form and has no effect, as on AWS since 2023.
  RETURN_IF_ERROR(RefuseMembers(request, {"entity"}));
  const std::string group = GetString(request, "logGroupName");
  const std::string stream = GetString(request, "logStreamName");
  const auto exists = logs.Stream(group, stream);
  if (!exists) return RefuseLogError(exists.error());
  ASSIGN_OR_RETURN(const Batch batch, ReadBatch(*FindArray(request, "logEvents"), context.now));
  if (!batch.events.empty()) {
    const Status written = logs.Append(group, stream, batch.events);
    if (!written) return RefuseLogError(written.error());
  }
  json::object out;
  if (!batch.rejected.empty()) out["rejectedLogEventsInfo"] = batch.rejected;
  return out;
}

}  // namespace

void RegisterLogs(wire::ActionTable& table, store::LogStore& logs) {
  const auto add = [&](const char* action, auto function) {
    table.Add("logs", action,
              [&logs, function](const CallContext& context, const json::object& request) {
                return function(logs, context, request);
              });
  };
  add("CreateLogGroup", CreateLogGroup);
  add("CreateLogStream", CreateLogStream);
  add("DeleteLogGroup", DeleteLogGroup);
  add("DeleteLogStream", DeleteLogStream);
  add("DescribeLogGroups", DescribeLogGroups);
  add("DescribeLogStreams", DescribeLogStreams);
  add("PutLogEvents", PutLogEvents);
  add("GetLogEvents", GetLogEvents);
  add("FilterLogEvents", FilterLogEvents);
}

}  // namespace sabia::api
