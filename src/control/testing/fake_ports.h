// Records, channels, metrics and sessions in memory, with the promises of the real ones
// (ports_conformance_test.cc).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/ports.h"
#include "control/tuning_ports.h"

namespace sabia::control::testing {

class FakeRecords final : public Records {
 public:
  Result<store::Resource> Get(store::Kind kind, std::string_view name) override;
  Result<std::vector<store::Resource>> Live(store::Kind kind) override;
  Result<std::vector<store::Resource>> Children(store::Kind kind, std::string_view parent) override;
  Status Commit(const std::vector<store::Change>& changes) override;

  void OnCommit(std::function<void(store::Kind, const std::string&)> listener);
  // Sees every row as it becomes, and "deleted" as null, within the commit: checks what may happen
  // to it. Must not call back.
  using Witness = std::function<void(const store::Change& change, const store::Resource* becomes)>;
  void OnChange(Witness witness);
  void Erase(store::Kind kind, const std::string& name);  // without a trace
  std::size_t commits();
  // Lines of the ledger by job, as they were handed over: one that came twice is there twice.
  std::vector<model::LedgerEntry> Ledger(const std::string& job);

 private:
  using Key = std::pair<store::Kind, std::string>;
  Status Check(const store::Change& change) const;
  void Apply(const store::Change& change);
  void EraseRow(const Key& key);

  std::mutex mutex_;
  std::map<Key, store::Resource> rows_;
  std::map<Key, std::set<std::string>> children_;  // kind and parent → names
  std::set<Key> live_;
  std::map<std::string, std::vector<model::LedgerEntry>> ledger_;
  Witness witness_;
  std::function<void(store::Kind, const std::string&)> listener_;
  std::size_t commits_ = 0;
};

class FakeChannels final : public ChannelSource {
 public:
  Result<std::vector<ChannelFile>> List(const Query& query) override;
  // By URI; URIs that are not set are kNotFound. Filled before the first List.
  std::map<std::string, std::vector<ChannelFile>> files;
};

class FakeMetrics final : public MetricSink {
 public:
  Result<std::uint64_t> Offset(const std::string& source) override;
  Status Ingest(const Batch& batch) override;
  std::vector<store::Point> PointsOf(const std::string& job);
  // Points by job name, as stored. Read when nothing runs.
  std::map<std::string, std::vector<store::Point>> points;

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> offsets_;
};

// Curves from FakeMetrics, which keeps the points of one metric per job; no tags but those set.
class FakeTrialFacts final : public TrialFacts {
 public:
  explicit FakeTrialFacts(FakeMetrics& metrics) : metrics_(metrics) {}
  Result<std::vector<double>> Curve(const std::string& training_job,
                                    const std::string& metric) override;
  Result<store::Tags> Tags(const std::string& arn) override;
  std::map<std::string, store::Tags> tags;  // by ARN; filled before the first look

 private:
  FakeMetrics& metrics_;
};

class FakeSessions final : public SessionMinter {
 public:
  RoleSession Mint(const std::string& role_arn, const std::string& session_name,
                   WallTime expires) override {
    const std::lock_guard lock(mutex_);
    last_expiry = expires;
    return {"ASIA" + session_name, "secret of " + role_arn, "token"};
  }
  WallTime last_expiry;

 private:
  std::mutex mutex_;
};

}  // namespace sabia::control::testing
