// What the logs actions share: how a group is named, how failures are worded, how members are
// refused. Pure.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "wire/action.h"

namespace sabia::api {

// logGroupName, or the name inside logGroupIdentifier (a name or an ARN): exactly one of them.
wire::AwsResult<std::string> LogGroupOf(const json::object& request);

std::string LogGroupArn(const wire::CallContext& context, std::string_view group);

template <typename... Args>
[[nodiscard]] tl::unexpected<wire::AwsError> RefuseParameter(fmt::format_string<Args...> format,
                                                             Args&&... args) {
  return wire::Refuse("InvalidParameterException", 400, format, std::forward<Args>(args)...);
}

// In the words of CloudWatch Logs. The store's messages begin with what they are about: "log group"
// or "log stream".
tl::unexpected<wire::AwsError> RefuseLogError(const Error& error);

// Refuses the first of the members that is present and says something (not false, not empty).
wire::AwsResult<void> RefuseMembers(const json::object& request,
                                    std::initializer_list<std::string_view> members);

std::optional<WallTime> MillisOf(const json::object& request, std::string_view member);

// The message as JSON can carry it: bytes that are not UTF-8 become U+FFFD.
std::string ToUtf8(std::string_view bytes);

}  // namespace sabia::api
