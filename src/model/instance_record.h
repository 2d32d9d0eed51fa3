// The lease of one instance by one job, as the store keeps it: a store::Resource of kind kInstance,
// whose name is the id and whose parent is the job's name.
//
// A record exists from before an agent is touched until nothing of the instance runs any more: a
// record is capacity in use, a directory without a record is garbage. Ids are deterministic, so
// that repeating a launch finds the first one. Pure values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

namespace sabia::model {

struct InstanceRecord {
  std::string id;  // <uid>-<attempt>-<number>
  std::string job_name;
  int attempt = 1;
  int number = 1;  // 1-based over all groups of the job
  std::string group = "homogeneousCluster";
  std::string instance_type;
  bool spot = false;
  double vcpus = 1;  // what the lease takes of the machine
  std::int64_t memory_bytes = 0;
  WallTime leased;
  std::string predecessor;  // the instance of another job whose agent is to go on here; "" for none

  std::string Host() const { return "algo-" + std::to_string(number); }

  json::object ToJson() const;
  static Result<InstanceRecord> FromJson(const json::object& document);
};

std::string InstanceId(std::string_view uid, int attempt, int number);

// "<job>/algo-1-<epoch seconds>": a new attempt writes a new stream.
std::string TrainingLogStream(const InstanceRecord& record);
inline constexpr std::string_view kTrainingLogGroup = "/aws/sagemaker/TrainingJobs";

}  // namespace sabia::model
