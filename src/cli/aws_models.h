// The endpoint files that AWS_DATA_PATH points clients at.
//
// Two kinds of client do not follow AWS_ENDPOINT_URL. botocore before 1.31 (Debian 12's boto3 and
// AWS CLI) does not know it: it reads an endpoints.json from AWS_DATA_PATH before its own, and ours
// gives every service of every region our address. The SageMaker Python SDK gives its STS client an
// explicit https://sts.<region>.amazonaws.com: a session reads the rule set that turns parameters
// into an endpoint from AWS_DATA_PATH too, and ours for STS leads here whatever was given. So
// nothing reaches AWS by accident either. Pure.
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

// Of STS; the shape of botocore's endpoint-rule-set-1.json.
std::string StsRules(std::string_view http_url);

}  // namespace sabia::cli
