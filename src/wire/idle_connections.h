// Connections that outlive the client that made them.
#pragma once

#include <cstddef>

namespace sabia::wire {

// From now on, when an HttpClient ends, its connections are kept for the next one of this process,
// those of so many clients at most. For a process that calls one place again and again. Not before
// a fork: both sides would talk over one connection. Thread-safe.
void KeepIdleConnections(std::size_t clients);

}  // namespace sabia::wire
