#include "model/instance_record.h"

#include <fmt/format.h>

#include "model/json_fields.h"

namespace sabia::model {

json::object InstanceRecord::ToJson() const {
  json::object out{{"id", id},
                   {"job_name", job_name},
                   {"attempt", attempt},
                   {"number", number},
                   {"group", group},
                   {"instance_type", instance_type},
                   {"spot", spot},
                   {"vcpus", vcpus},
                   {"memory_bytes", memory_bytes},
                   {"leased", ToUnixMillis(leased)}};
  if (!predecessor.empty()) out["predecessor"] = predecessor;
  return out;
}

Result<InstanceRecord> InstanceRecord::FromJson(const json::object& document) {
  InstanceRecord record;
  FieldReader in(document);
  in.Text("id", record.id);
  in.Text("job_name", record.job_name);
  in.Integer("attempt", record.attempt);
  in.Integer("number", record.number);
  in.Text("group", record.group);
  in.Text("instance_type", record.instance_type);
  in.Flag("spot", record.spot);
  in.Real("vcpus", record.vcpus);
  in.Integer("memory_bytes", record.memory_bytes);
  in.Time("leased", record.leased);
  in.Text("predecessor", record.predecessor);
  RETURN_IF_ERROR(in.status());
  return record;
}

std::string InstanceId(std::string_view uid, int attempt, int number) {
  return fmt::format("{}-{}-{}", uid, attempt, number);
}

std::string TrainingLogStream(const InstanceRecord& record) {
  return fmt::format("{}/{}-{}", record.job_name, record.Host(),
                     ToUnixMillis(record.leased) / 1000);
}

}  // namespace sabia::model
