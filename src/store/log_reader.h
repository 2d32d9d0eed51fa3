// Pages of one open log stream, forward and backward.
#pragma once

#include "store/log_store.h"

namespace sabia::store {

Result<LogStore::ReadPage> ReadLogForward(int fd, const LogStore::ReadQuery& query);
Result<LogStore::ReadPage> ReadLogBackward(int fd, const LogStore::ReadQuery& query);
// Times and size; the name is left to the caller.
Result<LogStreamInfo> ReadLogInfo(int fd);

}  // namespace sabia::store
