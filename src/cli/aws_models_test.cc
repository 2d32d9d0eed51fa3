#include "cli/aws_models.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sabia::cli {
namespace {

TEST(EndpointsDocument, LeadsStsOfEveryRegionToUs) {
  const auto document = ParseJsonObject(EndpointsDocument("127.0.0.1:8643"));
  ASSERT_TRUE(document);
  const json::object& partition = document->at("partitions").at(0).as_object();
  const json::object& regions = partition.at("regions").as_object();
  const json::object& sts = partition.at("services").at("sts").at("endpoints").as_object();
  EXPECT_EQ(regions.size(), sts.size());
  for (const auto& [region, endpoint] : sts) {
    EXPECT_TRUE(regions.contains(region));
    EXPECT_EQ(endpoint.at("hostname").as_string(), "127.0.0.1:8643");
  }
  EXPECT_EQ(partition.at("services").at("s3").at("endpoints").as_object().size(), regions.size());
}

}  // namespace
}  // namespace sabia::cli
