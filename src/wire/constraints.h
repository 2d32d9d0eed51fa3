// The constraints of one scalar shape and AWS's words for them.
//
// Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "wire/schema.h"

namespace sabia::wire {

// Every constraint that the shape states, in the order in which AWS lists them: length or value
// (the upper bound first), pattern, enum. For an aggregate only its length.
std::vector<std::string> ConstraintTexts(const Shape& shape);

// Those of them that the value, which has the shape's JSON type, does not satisfy.
std::vector<std::string> BrokenConstraints(const Shape& shape, const json::value& value);

// The value as AWS quotes it: "abc", "[a, b]", "{k=v}", cut at a limit; nullopt for what is never
// quoted: sensitive values, blobs, and aggregates of aggregates.
std::optional<std::string> QuotedValue(const Shape& shape, const json::value& value);

// Why the value does not have the shape's JSON type, such as "STRING_VALUE can not be converted to
// an Integer"; empty when it does. Looks at the value itself, not into aggregates.
std::string TypeProblem(const Shape& shape, TimestampFormat format, const json::value& value);

// At most limit bytes, cut between characters, with "..." behind when something was cut.
std::string CutText(std::string_view text, std::size_t limit);

// "TrainingJobName" → "trainingJobName".
std::string LowerCamelCase(std::string_view name);

}  // namespace sabia::wire
