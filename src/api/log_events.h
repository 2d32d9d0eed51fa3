// GetLogEvents and FilterLogEvents: reading events page by page.
//
// Tokens are positions in a stream, so a page never repeats or skips an event while the stream
// grows. Bounded: a call answers at most 10,000 events or 1 MB, and FilterLogEvents looks at 16 MiB
// at most before it answers a token.
#pragma once

#include "store/log_store.h"
#include "wire/action.h"

namespace sabia::api {

// startTime is inclusive, endTime exclusive. At the end of the stream: no events and the token that
// was given.
wire::AwsResult<json::object> GetLogEvents(store::LogStore& logs, const wire::CallContext& context,
                                           const json::object& request);

// startTime and endTime are inclusive. Streams are searched by name; the events of a page are in
// order of time.
wire::AwsResult<json::object> FilterLogEvents(store::LogStore& logs,
                                              const wire::CallContext& context,
                                              const json::object& request);

}  // namespace sabia::api
