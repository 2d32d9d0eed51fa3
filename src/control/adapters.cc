#include "control/adapters.h"

#include <utility>

#include "control/metrics_ingest.h"
#include "objects/input_listing.h"

namespace sabia::control {

Result<store::Resource> StoreRecords::Get(store::Kind kind, std::string_view name) {
  return resources_.Get(kind, name);
}

Result<std::vector<store::Resource>> StoreRecords::Live(store::Kind kind) {
  return resources_.Live(kind);
}

Result<std::vector<store::Resource>> StoreRecords::Children(store::Kind kind,
                                                            std::string_view parent) {
  return resources_.Children(kind, parent);
}

Status StoreRecords::Commit(const std::vector<store::Change>& changes) {
  return resources_.Commit(changes);
}

Result<std::uint64_t> StoreMetrics::Offset(const std::string& source) {
  return series_.Offset(source);
}

Status StoreMetrics::Ingest(const Batch& batch) {
  return series_.Ingest(batch.source, batch.from, batch.to, batch.samples);
}

Result<std::vector<double>> StoreTrialFacts::Curve(const std::string& training_job,
                                                   const std::string& metric) {
  const store::SeriesKey key = TrainingMetricKey(training_job, metric);
  ASSIGN_OR_RETURN(const std::vector<store::Point> points,
                   series_.Query(key, WallTime::min(), WallTime::max()));
  std::vector<double> values;
  values.reserve(points.size());
  for (const store::Point& point : points) values.push_back(point.value);
  return values;
}

Result<store::Tags> StoreTrialFacts::Tags(const std::string& arn) {
  return resources_.GetTags(arn);
}

Result<std::vector<ChannelFile>> BucketChannels::List(const Query& query) {
  const objects::InputSource source{objects::ParseInputType(query.data_type), query.s3_uri,
                                    query.as_files};
  const objects::ReadCheck check = reads_ ? reads_(query.role_arn) : nullptr;
  const objects::OpenBucket open =
      [&](const std::string& bucket) -> Result<std::unique_ptr<objects::BucketSource>> {
    ASSIGN_OR_RETURN(std::unique_ptr<objects::BucketSource> opened, buckets_.Source(bucket));
    ASSIGN_OR_RETURN(const auto outside, buckets_.External(bucket));
    if (!check || outside) return opened;
    return objects::GuardSource(std::move(opened), bucket, check);
  };
  ASSIGN_OR_RETURN(std::vector<objects::InputFile> listed, objects::ListInput(open, source));
  if (query.hosts > 1) listed = objects::ShardOf(std::move(listed), query.host, query.hosts);
  std::vector<ChannelFile> files;
  files.reserve(listed.size());
  for (objects::InputFile& file : listed) {
    // A sealed file is no use to an agent: it asks the S3 API, which opens it.
    const bool embedded = !file.object.blob_id.empty() && file.object.envelope.empty();
    files.push_back({std::move(file.path), file.object.size,
                     embedded ? objects_.BlobPath(file.object).native() : std::string(),
                     std::move(file.bucket), std::move(file.object.key),
                     std::move(file.object.etag), file.object.modified});
  }
  return files;
}

Result<std::optional<json::object>> BucketChannels::External(const std::string& bucket) {
  ASSIGN_OR_RETURN(const auto endpoint, buckets_.External(bucket));
  if (!endpoint) return std::optional<json::object>();
  return std::optional(endpoint->ToJson());
}

RoleSession AuthoritySessions::Mint(const std::string& role_arn, const std::string& session_name,
                                    WallTime expires) {
  wire::TemporaryCredentials minted = authority_.Mint({role_arn, session_name, expires}, random_);
  return {std::move(minted.key.id), std::move(minted.key.secret), std::move(minted.session_token)};
}

}  // namespace sabia::control
