// The endpoint file that AWS_DATA_PATH points clients at.
//
// The SageMaker Python SDK asks STS at https://sts.<region>.amazonaws.com, a name that it takes
// from botocore's endpoints.json and that AWS_ENDPOINT_URL does not change. botocore reads an
// endpoints.json from AWS_DATA_PATH before its own; this one names our TLS address as the STS of
// every region. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sabia::cli {

// sts_host: "127.0.0.1:8643". The document has the shape of botocore's endpoints.json, partition
// "aws".
std::string EndpointsDocument(std::string_view sts_host);

}  // namespace sabia::cli
