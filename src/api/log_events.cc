#include "api/log_events.h"

#include <algorithm>
#include <charconv>

#include "api/log_pattern.h"
#include "api/log_requests.h"
#include "api/stable_id.h"
#include "base/encoding.h"
#include "model/limits.h"

namespace sabia::api {
namespace {

using store::LogStore;
using wire::AwsResult;

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string ForwardToken(std::uint64_t offset) { return fmt::format("f/{:020}", offset); }
std::string BackwardToken(std::uint64_t offset) { return fmt::format("b/{:020}", offset); }

tl::unexpected<wire::AwsError> BadToken() {
  return RefuseParameter("The specified nextToken is invalid.");
}

std::size_t LimitOf(const json::object& request) {
  return static_cast<std::size_t>(
      GetInt(request, "limit", static_cast<std::int64_t>(model::kLogEventsPageMax)));
}

AwsResult<void> Position(const json::object& request, LogStore::ReadQuery& query) {
  const auto token = FindString(request, "nextToken");
  if (!token) {
    query.backward = !GetBool(request, "startFromHead");
    query.from_offset = query.backward ? store::kLogEnd : 0;
    return {};
  }
  const auto offset = token->size() > 2 ? ParseNumber(token->substr(2)) : std::nullopt;
  if (!offset || (!token->starts_with("f/") && !token->starts_with("b/"))) return BadToken();
  query.backward = token->starts_with("b/");
  query.from_offset = *offset;
  return {};
}

// Goes on until there are events or the end is reached; the store looks at a bounded part of a
// stream per call.
AwsResult<LogStore::ReadPage> ReadSome(LogStore& logs, LogStore::ReadQuery query) {
  while (true) {
    auto page = logs.Read(query);
    if (!page) return RefuseLogError(page.error());
    const std::uint64_t next = query.backward ? page->begin_offset : page->end_offset;
    if (!page->events.empty() || next == query.from_offset) return std::move(*page);
    query.from_offset = next;
  }
}

struct FilterPosition {
  std::string stream;  // "" starts
  std::uint64_t offset = 0;
};

AwsResult<FilterPosition> FilterStart(const json::object& request) {
  const auto token = FindString(request, "nextToken");
  if (!token) return FilterPosition{};
  const auto text = Base64Decode(*token);
  const std::size_t slash = text ? text->find('/') : std::string::npos;
  if (slash == std::string::npos) return BadToken();
  const auto offset = ParseNumber(std::string_view(*text).substr(0, slash));
  if (!offset) return BadToken();
  return FilterPosition{text->substr(slash + 1), *offset};
}

std::string FilterToken(const FilterPosition& position) {
  return Base64Encode(fmt::format("{}/{}", position.offset, position.stream));
}

AwsResult<std::vector<std::string>> StreamsToSearch(LogStore& logs, const std::string& group,
                                                    const json::object& request,
                                                    const FilterPosition& start) {
  const json::array* names = FindArray(request, "logStreamNames");
  const std::string prefix = GetString(request, "logStreamNamePrefix");
  if (names != nullptr && !prefix.empty()) {
    return RefuseParameter("Only one of logStreamNamePrefix and logStreamNames may be given");
  }
  std::vector<std::string> streams;
  if (names == nullptr) {
    // The search goes on behind the stream where the last page stopped.
    LogStore::StreamQuery query{
        .group = group, .prefix = prefix, .after = "", .limit = model::kFilterStreamsMax};
    if (!start.stream.empty()) streams.push_back(start.stream);
    query.after = start.stream;
    const auto known = logs.Streams(query);
    if (!known) return RefuseLogError(known.error());
    for (const store::LogStreamInfo& info : *known) streams.push_back(info.name);
    return streams;
  }
  for (const json::value& name : *names) streams.emplace_back(View(name.get_string()));
  std::sort(streams.begin(), streams.end());
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  std::erase_if(streams, [&](const std::string& name) { return name < start.stream; });
  return streams;
}

// Unique within a group: where the event lies.
std::string EventId(std::string_view stream, std::uint64_t offset) {
  return fmt::format("{:020}{:020}", StableHash(stream), offset);
}

class Search {
 public:
  // must_exist: whether a missing stream is an error.
  Search(LogStore& logs, LogStore::ReadQuery query, LogPattern pattern, bool must_exist)
      : logs_(logs),
        query_(std::move(query)),
        pattern_(std::move(pattern)),
        limit_(query_.limit),
        must_exist_(must_exist) {}

  // Takes what matches in one stream from `offset` on; false when a bound was reached and next()
  // says where to go on.
  AwsResult<bool> Take(const std::string& stream, std::uint64_t offset) {
    query_.stream = stream;
    query_.from_offset = offset;
    while (true) {
      const auto page = logs_.Read(query_);
      // A stream that was listed may be deleted before it is read.
      if (!page && page.error().code == ErrorCode::kNotFound && !must_exist_) return true;
      if (!page) return RefuseLogError(page.error());
      for (const store::LogEvent& event : page->events) {
        next_ = {stream, event.offset};
        if (Full()) return false;
        if (pattern_.Matches(event.message)) Add(stream, event);
      }
      if (page->end_offset == query_.from_offset) return true;
      scanned_ += page->end_offset - std::min(page->end_offset, query_.from_offset);
      query_.from_offset = page->end_offset;
      next_ = {stream, page->end_offset};
      if (scanned_ >= model::kFilterScanBytesMax) return false;
    }
  }

  const FilterPosition& next() const { return next_; }

  json::array TakeEvents() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    json::array out;
    out.reserve(found_.size());
    for (auto& [time, event] : found_) out.push_back(std::move(event));
    return out;
  }

 private:
  bool Full() const { return found_.size() >= limit_ || bytes_ >= model::kLogPageBytesMax; }
  void Add(const std::string& stream, const store::LogEvent& event) {
    bytes_ += event.message.size() + model::kPutLogEventOverheadBytes;
    found_.emplace_back(event.time, json::object{{"logStreamName", stream},
                                                 {"timestamp", ToUnixMillis(event.time)},
                                                 {"message", ToUtf8(event.message)},
                                                 {"ingestionTime", ToUnixMillis(event.ingested)},
                                                 {"eventId", EventId(stream, event.offset)}});
  }

  LogStore& logs_;
  LogStore::ReadQuery query_;
  LogPattern pattern_;
  std::size_t limit_;
  bool must_exist_;
  std::size_t bytes_ = 0;
  std::uint64_t scanned_ = 0;  // bytes of files
  FilterPosition next_;
  std::vector<std::pair<WallTime, json::object>> found_;
};

}  // namespace

AwsResult<json::object> GetLogEvents(LogStore& logs, const wire::CallContext&,
                                     const json::object& request) {
  LogStore::ReadQuery query;
  ASSIGN_OR_RETURN(query.group, LogGroupOf(request));
  query.stream = GetString(request, "logStreamName");
  query.start = MillisOf(request, "startTime");
  query.end = MillisOf(request, "endTime");
  query.limit = LimitOf(request);
  query.byte_limit = model::kLogPageBytesMax;
  RETURN_IF_ERROR(Position(request, query));
  ASSIGN_OR_RETURN(const LogStore::ReadPage page, ReadSome(logs, query));

  json::array events;
  events.reserve(page.events.size());
  for (const store::LogEvent& event : page.events) {
    events.push_back({{"timestamp", ToUnixMillis(event.time)},
                      {"message", ToUtf8(event.message)},
                      {"ingestionTime", ToUnixMillis(event.ingested)}});
  }
  return json::object{{"events", std::move(events)},
                      {"nextForwardToken", ForwardToken(page.end_offset)},
                      {"nextBackwardToken", BackwardToken(page.begin_offset)}};
}

AwsResult<json::object> FilterLogEvents(LogStore& logs, const wire::CallContext&,
                                        const json::object& request) {
  LogStore::ReadQuery query;
  ASSIGN_OR_RETURN(query.group, LogGroupOf(request));
  query.start = MillisOf(request, "startTime");
  query.end = MillisOf(request, "endTime");
  if (query.end) *query.end += Millis(1);  // inclusive here, exclusive there
  auto pattern = LogPattern::Parse(GetString(request, "filterPattern"));
  if (!pattern) return RefuseParameter("Invalid filter pattern: {}", pattern.error().message);
  ASSIGN_OR_RETURN(const FilterPosition start, FilterStart(request));
  ASSIGN_OR_RETURN(const auto streams, StreamsToSearch(logs, query.group, request, start));

  const bool named = FindArray(request, "logStreamNames") != nullptr;
  query.limit = LimitOf(request);
  Search search(logs, query, std::move(*pattern), named);
  json::object out;
  for (const std::string& stream : streams) {
    ASSIGN_OR_RETURN(const bool whole,
                     search.Take(stream, stream == start.stream ? start.offset : 0));
    if (whole) continue;
    out["nextToken"] = FilterToken(search.next());
    break;
  }
  if (!named && !out.contains("nextToken") && streams.size() >= model::kFilterStreamsMax) {
    out["nextToken"] = FilterToken({streams.back(), store::kLogEnd});  // more streams may follow
  }
  out["events"] = search.TakeEvents();
  out["searchedLogStreams"] = json::array();
  return out;
}

}  // namespace sabia::api
