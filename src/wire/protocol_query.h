// The query protocol: a form of "Action=..&Name.member.1=.." in, XML out. Called through
// protocol.h.
#pragma once

#include "wire/protocol.h"

namespace sabia::wire {

inline constexpr std::size_t kQueryParametersMax = 10'000;
inline constexpr std::size_t kQueryDepthMax = 32;

// The operation that the form names: its Action parameter; nullopt without one.
std::optional<std::string> QueryAction(std::string_view body, const QueryParameters& query);

// Reads the form in the body; of the URL where the body is empty.
AwsResult<json::object> DecodeQuery(const Operation& operation, const RequestParts& request);
Response EncodeQuerySuccess(const Call& call, const json::object& output,
                            std::string_view request_id);
Response EncodeQueryError(const ServiceSchema& schema, const AwsError& error,
                          std::string_view request_id);

}  // namespace sabia::wire
