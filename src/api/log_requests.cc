#include "api/log_requests.h"

#include "base/encoding.h"

namespace sabia::api {

wire::AwsResult<std::string> LogGroupOf(const json::object& request) {
  const auto name = FindString(request, "logGroupName");
  const auto identifier = FindString(request, "logGroupIdentifier");
  if (name && identifier) {
    return RefuseParameter("Only one of logGroupName and logGroupIdentifier may be given");
  }
  if (name) return std::string(*name);
  if (!identifier)
    return RefuseParameter("One of logGroupName and logGroupIdentifier must be given");
  std::string_view group = *identifier;
  if (!group.starts_with("arn:")) return std::string(group);
  constexpr std::string_view kMark = ":log-group:";
  const std::size_t at = group.find(kMark);
  if (at == std::string_view::npos) {
    return RefuseParameter("logGroupIdentifier '{}' is not the ARN of a log group", *identifier);
  }
  group.remove_prefix(at + kMark.size());
  return std::string(group.substr(0, group.find(':')));
}

std::string LogGroupArn(const wire::CallContext& context, std::string_view group) {
  return fmt::format("arn:aws:logs:{}:{}:log-group:{}", context.region, context.principal.account,
                     group);
}

tl::unexpected<wire::AwsError> RefuseLogError(const Error& error) {
  const std::string_view what =
      error.message.find("log group") != std::string::npos ? "group" : "stream";
  if (error.code == ErrorCode::kNotFound) {
    return wire::Refuse("ResourceNotFoundException", 400, "The specified log {} does not exist.",
                        what);
  }
  if (error.code == ErrorCode::kAlreadyExists) {
    return wire::Refuse("ResourceAlreadyExistsException", 400,
                        "The specified log {} already exists", what);
  }
  if (error.code == ErrorCode::kInvalidArgument) return RefuseParameter("{}", error.message);
  if (error.code == ErrorCode::kUnavailable) {
    // A job holds the stream for as long as it runs: retrying soon, as 503 would make clients do,
    // is of no use.
    return wire::Refuse("OperationAbortedException", 400,
                        "The log stream is being written by its job: {}", error.message);
  }
  return wire::Pass(error);
}

wire::AwsResult<void> RefuseMembers(const json::object& request,
                                    std::initializer_list<std::string_view> members) {
  for (const std::string_view member : members) {
    const json::value* value = request.if_contains(member);
    if (value == nullptr || value->is_null()) continue;
    if (value->is_bool() && !value->get_bool()) continue;
    if (value->is_array() && value->get_array().empty()) continue;
    return RefuseParameter("{} is not supported", member);
  }
  return {};
}

std::optional<WallTime> MillisOf(const json::object& request, std::string_view member) {
  const auto value = FindInt(request, member);
  if (!value) return std::nullopt;
  return FromUnixMillis(*value);
}

std::string ToUtf8(std::string_view bytes) {
  if (IsUtf8(bytes)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size() + 16);
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t length = 1;
    while (length <= 4 && at + length <= bytes.size() && !IsUtf8(bytes.substr(at, length)))
      ++length;
    if (length <= 4 && at + length <= bytes.size()) {
      out += bytes.substr(at, length);
      at += length;
    } else {
      out += "\xEF\xBF\xBD";
      ++at;
    }
  }
  return out;
}

}  // namespace sabia::api
