// The ports of a daemon that keeps everything itself: thin covers over store/, objects/ and wire/.
#pragma once

#include "control/ports.h"
#include "control/tuning_ports.h"
#include "env/random.h"
#include "objects/guarded_source.h"
#include "wire/credentials.h"

namespace sabia::control {

class StoreRecords final : public Records {
 public:
  explicit StoreRecords(store::Resources& resources) : resources_(resources) {}
  Result<store::Resource> Get(store::Kind kind, std::string_view name) override;
  Result<std::vector<store::Resource>> Live(store::Kind kind) override;
  Result<std::vector<store::Resource>> Children(store::Kind kind, std::string_view parent) override;
  Status Commit(const std::vector<store::Change>& changes) override;

 private:
  store::Resources& resources_;
};

class StoreMetrics final : public MetricSink {
 public:
  explicit StoreMetrics(store::Series& series) : series_(series) {}
  Result<std::uint64_t> Offset(const std::string& source) override;
  Status Ingest(const Batch& batch) override;

 private:
  store::Series& series_;
};

class StoreTrialFacts final : public TrialFacts {
 public:
  StoreTrialFacts(store::Series& series, store::Resources& resources)
      : series_(series), resources_(resources) {}
  Result<std::vector<double>> Curve(const std::string& training_job,
                                    const std::string& metric) override;
  Result<store::Tags> Tags(const std::string& arn) override;

 private:
  store::Series& series_;
  store::Resources& resources_;
};

// What a role may read of the embedded store.
using RoleReads = std::function<objects::ReadCheck(const std::string& role_arn)>;

// Objects of the embedded store, which agents read as files where they are not sealed, and of
// endpoints outside.
class BucketChannels final : public ChannelSource {
 public:
  // reads: nothing when every role may read everything.
  BucketChannels(objects::ObjectStore& objects, objects::Buckets& buckets,
                 RoleReads reads = nullptr)
      : objects_(objects), buckets_(buckets), reads_(std::move(reads)) {}
  Result<std::vector<ChannelFile>> List(const Query& query) override;
  Result<std::optional<json::object>> External(const std::string& bucket) override;

 private:
  objects::ObjectStore& objects_;
  objects::Buckets& buckets_;
  const RoleReads reads_;
};

class AuthoritySessions final : public SessionMinter {
 public:
  AuthoritySessions(const wire::CredentialAuthority& authority, env::Random& random)
      : authority_(authority), random_(random) {}
  RoleSession Mint(const std::string& role_arn, const std::string& session_name,
                   WallTime expires) override;

 private:
  const wire::CredentialAuthority& authority_;
  env::Random& random_;
};

}  // namespace sabia::control
