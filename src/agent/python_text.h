// JSON values as Python prints them: the SageMaker training toolkit decodes hyperparameters with
// json.loads and hands them on as str(value) on the command line and json.dumps(value) in the
// environment, and scripts parse that text.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace sabia::agent {

// json.loads of one hyperparameter; text that is no JSON stays a string, as the toolkit does it.
json::value DecodeHyperparameter(std::string_view text);

// str(value): True, 1e-05, ['a', 1]; "" for None, and "a=1,b=2" for a mapping, as the toolkit
// prints arguments.
std::string ArgumentText(const json::value& value);
// repr(value).
std::string PythonRepr(const json::value& value);
std::string PythonFloat(double value);
// json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).
std::string PythonJson(const json::value& value);

// shlex.quote.
std::string ShellQuote(std::string_view text);

}  // namespace sabia::agent
