// The tuning job actions of SageMaker: each writes a record or an intent and answers.
//
// Create, Stop and Delete return when what they acknowledge is durable. Nothing here creates or
// stops a training job: StopHyperParameterTuningJob leaves an intent in the record, which a
// controller acts upon.
//
// Threading: thread-safe. Time: CallContext::now. Errors: ValidationException, ResourceNotFound,
// ResourceInUse, ResourceLimitExceeded with AWS's sentences (docs/semantics/tuning-job.md). Not
// here: the rules between members (tuning_job_rules.h), what is printed (tuning_job_view.h).
#pragma once

#include <functional>
#include <string_view>

#include "api/tuning_job_view.h"
#include "env/random.h"
#include "model/instance_catalog.h"
#include "objects/bucket_source.h"
#include "store/resources.h"
#include "wire/action.h"

namespace sabia::api {

class TuningJobs {
 public:
  // All must outlive this object and the table that its handlers are registered in.
  TuningJobs(store::Resources& resources, objects::Buckets& buckets, env::Random& random)
      : resources_(resources), buckets_(buckets), random_(random) {}

  using Answer = wire::AwsResult<json::object>;
  Answer Create(const wire::CallContext& context, json::object request);
  Answer Describe(const wire::CallContext& context, const json::object& request);
  Answer List(const json::object& request);
  Answer ListTrials(const json::object& request);
  Answer Stop(const wire::CallContext& context, const json::object& request);
  // The training jobs stay, as on AWS.
  Answer Delete(const json::object& request);

  struct Stored {
    store::Resource row;
    model::TuningJob job;
  };
  wire::AwsResult<Stored> Load(std::string_view name);
  // Of a tuning job, in the order of creation.
  wire::AwsResult<std::vector<TrialRecord>> Trials(std::string_view tuning_job);
  const model::InstanceCatalog& instances() const { return instances_; }

 private:
  wire::AwsResult<model::TuningJob> Accept(const wire::CallContext& context, json::object& request,
                                           store::Tags& tags);
  wire::AwsResult<void> CheckStored(const wire::CallContext& context, const json::object& request);
  wire::AwsResult<void> CheckParents(const json::object& request);
  wire::AwsResult<void> AddBest(const model::TuningJob& job, json::object& out);
  wire::AwsResult<std::optional<json::object>> BestView(
      const std::optional<model::TuningBest>& best);
  wire::AwsResult<TrialRecord> WithTraining(model::TuningTrial trial);

  const model::InstanceCatalog instances_ = model::InstanceCatalog::BuiltIn();
  store::Resources& resources_;
  objects::Buckets& buckets_;
  env::Random& random_;
};

// Adds the SageMaker actions to the table, under "sagemaker".
void RegisterTuningJobs(wire::ActionTable& table, TuningJobs& jobs);

// What AWS says of a tuning job that it does not know, whatever the action.
tl::unexpected<wire::AwsError> RefuseUnknownTuningJob(std::string_view name);

}  // namespace sabia::api
