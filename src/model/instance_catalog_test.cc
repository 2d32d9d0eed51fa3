#include "model/instance_catalog.h"

#include <gtest/gtest.h>

namespace sabia::model {
namespace {

TEST(InstanceCatalog, KnowsTheTypesOfTheApi) {
  const InstanceCatalog catalog = InstanceCatalog::BuiltIn();
  EXPECT_GT(catalog.types().size(), 300u);
  const InstanceType* large = catalog.Find("ml.m5.large");
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large->vcpus, 2);
  EXPECT_EQ(large->memory_bytes, std::int64_t{8} << 30);
  EXPECT_EQ(large->gpus, 0);
  const InstanceType* gpu = catalog.Find("ml.p4d.24xlarge");
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->gpus, 8);
  EXPECT_EQ(catalog.Find("ml.none.large"), nullptr);
}

TEST(InstanceCatalog, EveryTypeHasProcessorsAndMemory) {
  const InstanceCatalog catalog = InstanceCatalog::BuiltIn();
  for (const auto& [name, type] : catalog.types()) {
    EXPECT_GT(type.vcpus, 0) << name;
    EXPECT_GE(type.memory_bytes, std::int64_t{512} << 20) << name;
  }
}

TEST(InstanceCatalog, BadTablesNameTheLine) {
  const std::string header = "instance_type,vcpus,memory_mib,gpus\n";
  const auto message = [&](const std::string& rows) {
    const auto parsed = InstanceCatalog::Parse(header + rows);
    return parsed ? std::string("accepted") : parsed.error().message;
  };
  EXPECT_EQ(message("ml.a,2,8,0\n"), "accepted");
  EXPECT_EQ(message("ml.a,2,8,0\nml.a,2,8,0\n"), "line 3: 'ml.a' comes twice");
  EXPECT_EQ(message("ml.a,two,8,0\n"), "line 2: 'two' is not a number");
  EXPECT_EQ(message("ml.a,-1,8,0\n"), "line 2: '-1' is not a number");
}

}  // namespace
}  // namespace sabia::model
