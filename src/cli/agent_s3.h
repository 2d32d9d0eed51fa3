// The agent's way to S3: the daemon's endpoint, and endpoints outside for the buckets that the
// specification names.
#pragma once

#include "agent/hook.h"

namespace sabia::cli {

// The clock must outlive every client. Keys and retry budgets of an endpoint outside are shared by
// all clients that are made.
agent::ConnectS3 MakeAgentS3(env::Clock& clock);

// Does once, before forks, what the first request of each process would do again: libcurl and
// OpenSSL set themselves up, which takes 2 ms. Sends nothing and starts no thread.
void LoadAgentS3(env::Clock& clock);

}  // namespace sabia::cli
