// CloudWatch Logs: groups, streams, events, over store::LogStore.
//
// Every job's output is a stream here; users may make groups and streams of their own. nextToken is
// absent at the end of DescribeLogStreams (SDK v2 loops for ever otherwise); GetLogEvents answers
// its own token at the end of a stream.
//
// Threading: thread-safe. Errors: ResourceNotFoundException, ResourceAlreadyExistsException,
// InvalidParameterException with AWS's sentences. Members that cannot be honoured are refused by
// name.
#pragma once

#include "store/log_store.h"
#include "wire/action.h"

namespace sabia::api {

// Handlers keep a reference to the store.
void RegisterLogs(wire::ActionTable& table, store::LogStore& logs);

}  // namespace sabia::api
