#include "model/instance_record.h"

#include <gtest/gtest.h>

namespace sabia::model {
namespace {

TEST(InstanceRecord, ComesBackFromJsonAsItWas) {
  InstanceRecord record;
  record.id = InstanceId("0123456789ab", 2, 3);
  record.job_name = "train";
  record.attempt = 2;
  record.number = 3;
  record.group = "workers";
  record.instance_type = "ml.m5.large";
  record.spot = true;
  record.vcpus = 2;
  record.memory_bytes = std::int64_t{8} << 30;
  record.leased = FromUnixMillis(1'700'000'000'123);

  const auto back = InstanceRecord::FromJson(record.ToJson());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->ToJson(), record.ToJson());
  EXPECT_EQ(back->id, "0123456789ab-2-3");
  EXPECT_EQ(back->Host(), "algo-3");
}

TEST(InstanceRecord, NamesItsLogStreamByTheSecondOfTheLease) {
  InstanceRecord record;
  record.job_name = "train";
  record.leased = FromUnixMillis(1'700'000'000'999);
  EXPECT_EQ(TrainingLogStream(record), "train/algo-1-1700000000");
}

TEST(InstanceRecord, RefusesAWrongTypeByName) {
  const auto bad = InstanceRecord::FromJson({{"id", "x"}, {"vcpus", "two"}});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(bad.error().message.find("vcpus"), std::string::npos);
}

}  // namespace
}  // namespace sabia::model
