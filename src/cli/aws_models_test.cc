#include "cli/aws_models.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sabia::cli {
namespace {

TEST(EndpointsDocument, LeadsStsOfEveryRegionToUs) {
  const auto document = ParseJsonObject(EndpointsDocument({"127.0.0.1:8642", "127.0.0.1:8643"}));
  ASSERT_TRUE(document);
  const json::object& partition = document->at("partitions").at(0).as_object();
  const json::object& regions = partition.at("regions").as_object();
  const json::object& sts = partition.at("services").at("sts").at("endpoints").as_object();
  for (const auto& [region, description] : regions) {
    ASSERT_TRUE(sts.contains(region)) << region;
    EXPECT_EQ(sts.at(region).at("hostname").as_string(), "127.0.0.1:8643");
    EXPECT_EQ(sts.at(region).at("protocols").at(0).as_string(), "https");
  }
  EXPECT_EQ(sts.at("aws-global").at("credentialScope").at("region").as_string(), "us-east-1");
}

TEST(EndpointsDocument, LeavesNoServiceWithAnAddressElsewhere) {
  const auto document = ParseJsonObject(EndpointsDocument({"127.0.0.1:8642", "127.0.0.1:8643"}));
  ASSERT_TRUE(document);
  const json::object& partition = document->at("partitions").at(0).as_object();
  EXPECT_EQ(partition.at("defaults").at("hostname").as_string(), "127.0.0.1:8642");
  for (const auto& [service, value] : partition.at("services").as_object()) {
    for (const auto& [region, endpoint] : value.at("endpoints").as_object()) {
      const json::value* host = endpoint.as_object().if_contains("hostname");
      if (host == nullptr) continue;
      EXPECT_EQ(host->as_string(), "127.0.0.1:8643") << service;
    }
  }
}

TEST(StsRules, LeadHereWhateverEndpointTheClientWasGiven) {
  const auto document = ParseJsonObject(StsRules("http://127.0.0.1:8642"));
  ASSERT_TRUE(document);
  const json::array& rules = document->at("rules").as_array();
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_TRUE(rules[0].at("conditions").as_array().empty());
  EXPECT_EQ(rules[0].at("endpoint").at("url").as_string(), "http://127.0.0.1:8642");
  // Declared, or the client refuses an explicit endpoint instead of passing it.
  EXPECT_TRUE(document->at("parameters").as_object().contains("Endpoint"));
}

}  // namespace
}  // namespace sabia::cli
