// An agent between two instances: it has reported its last of one, and waits to be called to the
// next.
//
// What it keeps for the next job is itself: a loaded process in its mount namespace, and the two
// caches of the pool: the documented directory, and what pip has downloaded and built. Nothing else
// of the job that ended is carried over: its processes are gone with their namespace, its mounts
// are undone, its /opt/ml stays in the old directory, which nobody sees any more. A wait ends by a
// call, by SIGTERM, when the directory is removed, or after kWaitMax: nobody may have to look for
// an agent whose daemon never comes back.
//
// Threading: main thread.
#pragma once

#include <optional>

#include "agent/link.h"
#include "env/clock.h"

namespace sabia::agent {

// The longest KeepAlivePeriodInSeconds, and an hour for the daemon to be started again.
inline constexpr Seconds kWaitMax{21'600 + 3'600};

// The directory where to go on; nothing when the agent is to end. `link` is of the instance that is
// done.
std::optional<Path> AwaitCall(Link& link, env::Clock& clock);

// What the process takes along: the caches, and where its standard error goes.
void MoveIn(const Layout& from, const Layout& to);

}  // namespace sabia::agent
