// The endpoint file that AWS_DATA_PATH points clients at.
//
// Two kinds of client do not follow AWS_ENDPOINT_URL. botocore before 1.31 (Debian 12's boto3 and
// AWS CLI) does not know it. The SageMaker Python SDK asks STS at
// https://sts.<region>.amazonaws.com, a name that it takes from botocore's endpoints.json. botocore
// reads an endpoints.json from AWS_DATA_PATH before its own; this one gives every service of every
// region our address, and STS the one with TLS. So nothing reaches AWS by accident either. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sabia::cli {

struct EndpointHosts {
  std::string_view http;   // "127.0.0.1:8642"
  std::string_view https;  // "127.0.0.1:8643"
};

// The document has the shape of botocore's endpoints.json, partition "aws".
std::string EndpointsDocument(const EndpointHosts& hosts);

}  // namespace sabia::cli
