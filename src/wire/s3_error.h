// The error document of S3. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "wire/aws_error.h"
#include "wire/http.h"

namespace sabia::wire {

// Status, x-amz-request-id, x-amz-id-2, the error's headers and the XML body with Code, Message,
// the error's details, Resource, RequestId and HostId.
Response S3ErrorResponse(const AwsError& error, std::string_view resource,
                         std::string_view request_id);

}  // namespace sabia::wire
