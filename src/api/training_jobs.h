// The training job actions of SageMaker: each writes a record or an intent and answers.
//
// Create, Stop, Update and Delete return when what they acknowledge is durable. Nothing here starts
// or stops work: StopTrainingJob and InterruptSpot leave an intent in the record, which a
// controller acts upon. Records are changed by compare-and-set and retried when a controller wrote
// first.
//
// Threading: thread-safe. Time: CallContext::now. Errors: ValidationException, ResourceInUse,
// ResourceLimitExceeded with AWS's sentences (docs/semantics/training-job.md). Not here: the rules
// between members (training_job_rules.h), what Describe prints (training_job_view.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/document_memo.h"
#include "env/random.h"
#include "model/instance_catalog.h"
#include "model/limits.h"
#include "model/training_job.h"
#include "objects/bucket_source.h"
#include "store/resources.h"
#include "wire/action.h"

namespace sabia::api {

struct TrainingJobsOptions {
  Millis spot_notice =
      model::kSpotNotice;  // between the notice of a reclaim and the end of the instances
};

class TrainingJobs {
 public:
  // All must outlive this object and the table that its handlers are registered in.
  TrainingJobs(store::Resources& resources, objects::Buckets& buckets, env::Random& random,
               TrainingJobsOptions options = {})
      : options_(options), resources_(resources), buckets_(buckets), random_(random) {}

  using Answer = wire::AwsResult<json::object>;
  // Who is told of each created job once it is durable, instead of the store's listener: on the
  // thread of a committer, so it must be quick. Set before the first request.
  using AcceptedListener = std::function<void(std::unique_ptr<model::TrainingJob>)>;
  void OnAccepted(AcceptedListener listener) { accepted_ = std::move(listener); }

  // Replies when the job is durable.
  void Create(const wire::CallContext& context, json::object request,
              const wire::LaterReply& reply);
  // As text, kept while the record stays the same: clients ask far more often than records change.
  wire::AwsResult<wire::EncodedAnswer> Describe(const wire::CallContext& context,
                                                const json::object& request);
  Answer List(const wire::CallContext& context, const json::object& request);
  Answer Stop(const wire::CallContext& context, const json::object& request);
  Answer Update(const wire::CallContext& context, const json::object& request);
  Answer Delete(const json::object& request);
  // {"TrainingJobName"}: reclaims the instances of a running spot job with the notice of the
  // options. Answers {"TrainingJobName", "Attempt", "ReclaimAt"}. Asking twice during the notice is
  // one interruption.
  Answer InterruptSpot(const wire::CallContext& context, const json::object& request);

 private:
  struct Stored {
    store::Resource row;
    model::TrainingJob job;
  };
  wire::AwsResult<Stored> Load(std::string_view name);
  // Reads, lets `edit` change the record, writes; again when the revision moved meanwhile. An edit
  // that returns false wants no write.
  using Edit = std::function<wire::AwsResult<bool>(model::TrainingJob&)>;
  wire::AwsResult<void> Change(const wire::CallContext& context, std::string_view name,
                               const Edit& edit);
  wire::AwsResult<model::TrainingJob> Accept(const wire::CallContext& context,
                                             json::object& request, store::Tags& tags);

  const TrainingJobsOptions options_;
  const model::InstanceCatalog instances_ = model::InstanceCatalog::BuiltIn();
  store::Resources& resources_;
  DocumentMemo described_;
  objects::Buckets& buckets_;
  env::Random& random_;
  AcceptedListener accepted_;
};

// Adds the SageMaker actions to the table, under "sagemaker".
void RegisterTrainingJobs(wire::ActionTable& table, TrainingJobs& jobs);

// What AWS says of a job that it does not know, whatever the action.
tl::unexpected<wire::AwsError> RefuseUnknownTrainingJob();
// The row of a job, or that answer; and what the row holds.
wire::AwsResult<store::Resource> FindTrainingJob(store::Resources& resources,
                                                 std::string_view name);
wire::AwsResult<model::TrainingJob> DecodeTrainingJob(const store::Resource& row);

}  // namespace sabia::api
