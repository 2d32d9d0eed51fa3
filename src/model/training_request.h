// From a CreateTrainingJob request to the job that it asks for: the same for what a user sends and
// for what a search creates.
//
// Pure; any thread. REQUIRES throughout: the request passed the service schema. Not here: what is
// refused (api/training_job_rules.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/training_job.h"

namespace sabia::model {

// Adds the values that the service fills in and DescribeTrainingJob echoes; for the built-in
// algorithms also their metric definitions. Idempotent.
void CompleteTrainingRequest(json::object& request);

// What the user should know and AWS does not refuse, such as spot without checkpoints.
// REQUIRES: completed.
std::vector<std::string> NotesOnTrainingRequest(const json::object& request);

std::string TrainingJobArn(std::string_view region, std::string_view account,
                           std::string_view name);

// What a job has that its request does not say.
struct TrainingJobBirth {
  std::string uid;  // 12 hex digits, never used before
  std::string region;
  std::string account;
  WallTime now;
  std::string tuning_job_arn = {};
};
// In kQueued, without notes. REQUIRES: completed, and without Tags, which live beside the record.
TrainingJob NewTrainingJob(json::object request, TrainingJobBirth birth);

}  // namespace sabia::model
