// Which trials of a tuning job a page of ListTrainingJobsForHyperParameterTuningJob shows.
//
// A tuning job has at most a few hundred trials, so they are sorted in memory. A token says after
// which place in which order to go on; it stays valid while trials are added or change. Pure; any
// thread. Errors: ValidationException for a token that is none, or of another listing.
#pragma once

#include <string>
#include <vector>

#include "api/tuning_job_view.h"
#include "base/json.h"
#include "wire/aws_error.h"

namespace sabia::api {

struct TrialPage {
  std::vector<TrialRecord> trials;
  std::string next_token;  // "" at the end
};

// request: ListTrainingJobsForHyperParameterTuningJob. With SortBy FinalObjectiveMetricValue,
// trials without an objective are left out, as AWS does.
wire::AwsResult<TrialPage> PageOfTrials(std::vector<TrialRecord> trials,
                                        const json::object& request);

}  // namespace sabia::api
