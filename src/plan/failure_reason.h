// How a failure is told: class, cause, exit code or signal, out of memory or not, the last lines,
// the log stream.
//
// The first word is AWS's: AlgorithmError (the program), ClientError (what the user asked for),
// CapacityError, InternalServerError (ours). A reason holds at most 1024 characters; what is cut
// are the last lines first, then the log stream; the text of /opt/ml/output/failure keeps its
// beginning. Pure.
#pragma once

#include <string>
#include <string_view>

#include "model/instance.h"
#include "model/instance_record.h"

namespace sabia::plan {

inline constexpr std::size_t kReasonCharsMax = 1024;

// The first `limit` characters (code points) of UTF-8 text; whole when shorter.
std::string FirstCharacters(std::string_view text, std::size_t limit);
// The last `limit` characters, with "…" in front when something was cut.
std::string LastCharacters(std::string_view text, std::size_t limit);

// REQUIRES: the report says how the program ended, and it did not end well.
std::string AlgorithmFailure(const model::Report& report, const model::InstanceRecord& instance);
std::string ClientFailure(std::string_view cause);
std::string CapacityFailure(std::string_view cause);
// AWS's sentence, followed by what really happened.
std::string InternalFailure(std::string_view cause);

// "signal 9 (SIGKILL)"
std::string SignalText(int signal);

}  // namespace sabia::plan
