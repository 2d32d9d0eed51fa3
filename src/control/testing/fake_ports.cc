#include "control/testing/fake_ports.h"

namespace sabia::control::testing {

Result<store::Resource> FakeRecords::Get(store::Kind kind, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find({kind, std::string(name)});
  if (found == rows_.end()) return Fail(ErrorCode::kNotFound, "there is no '{}'", name);
  return found->second;
}

Result<std::vector<store::Resource>> FakeRecords::Live(store::Kind kind) {
  const std::lock_guard lock(mutex_);
  std::vector<store::Resource> out;
  for (const Key& key : live_) {
    if (key.first == kind) out.push_back(rows_.at(key));
  }
  return out;
}

Result<std::vector<store::Resource>> FakeRecords::Children(store::Kind kind,
                                                           std::string_view parent) {
  const std::lock_guard lock(mutex_);
  std::vector<store::Resource> out;
  const auto names = children_.find({kind, std::string(parent)});
  if (names == children_.end()) return out;
  for (const std::string& name : names->second) out.push_back(rows_.at({kind, name}));
  return out;
}

Status FakeRecords::Check(const store::Change& change) const {
  const store::Resource& wanted = change.resource;
  const auto found = rows_.find({wanted.kind, wanted.name});
  if (change.op == store::Change::Op::kInsert) {
    if (found != rows_.end())
      return Fail(ErrorCode::kAlreadyExists, "'{}' exists already", wanted.name);
    return {};
  }
  if (found == rows_.end()) return Fail(ErrorCode::kNotFound, "there is no '{}'", wanted.name);
  if (found->second.revision != wanted.revision) {
    return Fail(ErrorCode::kConflict, "'{}' is at revision {}, not {}", wanted.name,
                found->second.revision, wanted.revision);
  }
  return {};
}

Status FakeRecords::Commit(const std::vector<store::Change>& changes) {
  std::function<void(store::Kind, const std::string&)> listener;
  {
    const std::lock_guard lock(mutex_);
    for (const store::Change& change : changes) RETURN_IF_ERROR(Check(change));
    for (const store::Change& change : changes) Apply(change);
    ++commits_;
    listener = listener_;
  }
  if (!listener) return {};
  for (const store::Change& change : changes) {
    if (!change.silent) listener(change.resource.kind, change.resource.name);
  }
  return {};
}

void FakeRecords::Apply(const store::Change& change) {
  const Key key{change.resource.kind, change.resource.name};
  if (!change.ledger.empty()) {
    auto& lines = ledger_[key.second];
    lines.insert(lines.end(), change.ledger.begin(), change.ledger.end());
  }
  if (change.op == store::Change::Op::kDelete) {
    EraseRow(key);
    if (witness_) witness_(change, nullptr);
    return;
  }
  store::Resource row = change.resource;
  row.revision = change.resource.revision + 1;
  if (row.live) {
    live_.insert(key);
  } else {
    live_.erase(key);
  }
  if (!row.parent.empty()) children_[{key.first, row.parent}].insert(key.second);
  store::Resource& stored = rows_[key];
  stored = std::move(row);
  if (witness_) witness_(change, &stored);
}

void FakeRecords::EraseRow(const Key& key) {
  const auto row = rows_.find(key);
  if (row == rows_.end()) return;
  const auto names = children_.find({key.first, row->second.parent});
  if (names != children_.end()) {
    names->second.erase(key.second);
    if (names->second.empty()) children_.erase(names);
  }
  live_.erase(key);
  rows_.erase(row);
}

void FakeRecords::Erase(store::Kind kind, const std::string& name) {
  const std::lock_guard lock(mutex_);
  EraseRow({kind, name});
  if (kind == store::Kind::kTrainingJob) ledger_.erase(name);
}

std::vector<model::LedgerEntry> FakeRecords::Ledger(const std::string& job) {
  const std::lock_guard lock(mutex_);
  const auto found = ledger_.find(job);
  return found == ledger_.end() ? std::vector<model::LedgerEntry>() : found->second;
}

void FakeRecords::OnChange(Witness witness) {
  const std::lock_guard lock(mutex_);
  witness_ = std::move(witness);
}

void FakeRecords::OnCommit(std::function<void(store::Kind, const std::string&)> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

std::size_t FakeRecords::commits() {
  const std::lock_guard lock(mutex_);
  return commits_;
}

Result<std::vector<ChannelFile>> FakeChannels::List(const Query& query) {
  const auto found = files.find(query.s3_uri);
  if (found == files.end()) return Fail(ErrorCode::kNotFound, "key prefix matches no object");
  std::vector<ChannelFile> share;
  for (std::size_t i = query.host; i < found->second.size(); i += query.hosts)
    share.push_back(found->second[i]);
  return share;
}

Result<std::uint64_t> FakeMetrics::Offset(const std::string& source) {
  const std::lock_guard lock(mutex_);
  return offsets_[source];
}

Result<std::vector<double>> FakeTrialFacts::Curve(const std::string& training_job,
                                                  const std::string& metric) {
  (void)metric;
  std::vector<double> values;
  for (const store::Point& point : metrics_.PointsOf(training_job)) values.push_back(point.value);
  return values;
}

Result<store::Tags> FakeTrialFacts::Tags(const std::string& arn) {
  const auto found = tags.find(arn);
  return found == tags.end() ? store::Tags() : found->second;
}

std::vector<store::Point> FakeMetrics::PointsOf(const std::string& job) {
  const std::lock_guard lock(mutex_);
  const auto found = points.find(job);
  return found == points.end() ? std::vector<store::Point>() : found->second;
}

Status FakeMetrics::Ingest(const Batch& batch) {
  const std::lock_guard lock(mutex_);
  std::uint64_t& offset = offsets_[batch.source];
  if (offset != batch.from) {
    return Fail(ErrorCode::kConflict, "'{}' stands at {}, not {}", batch.source, offset,
                batch.from);
  }
  offset = batch.to;
  for (const auto& sample : batch.samples)
    points[sample.key.dimensions.at("TrainingJobName")].push_back(sample.point);
  return {};
}

}  // namespace sabia::control::testing
