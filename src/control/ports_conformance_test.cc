// What controllers rely on in records and metric sinks, over the fakes and over the real store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "control/adapters.h"
#include "control/metrics_ingest.h"
#include "control/testing/fake_ports.h"
#include "store/testing/state.h"

namespace sabia::control {
namespace {

using store::Change;
using store::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Rig {
 public:
  virtual ~Rig() = default;
  virtual Records& records() = 0;
  virtual MetricSink& metrics() = 0;
  virtual TrialFacts& facts() = 0;
  virtual void OnCommit(std::function<void(Kind, const std::string&)> listener) = 0;
};

class FakeRig final : public Rig {
 public:
  Records& records() override { return records_; }
  MetricSink& metrics() override { return metrics_; }
  TrialFacts& facts() override { return facts_; }
  void OnCommit(std::function<void(Kind, const std::string&)> listener) override {
    records_.OnCommit(std::move(listener));
  }

 private:
  testing::FakeRecords records_;
  testing::FakeMetrics metrics_;
  testing::FakeTrialFacts facts_{metrics_};
};

class RealRig final : public Rig {
 public:
  Records& records() override { return records_; }
  MetricSink& metrics() override { return metrics_; }
  TrialFacts& facts() override { return facts_; }
  void OnCommit(std::function<void(Kind, const std::string&)> listener) override {
    state_.resources().OnCommit(std::move(listener));
  }

 private:
  store::testing::TemporaryState state_;
  StoreRecords records_{state_.resources()};
  StoreMetrics metrics_{state_.series()};
  StoreTrialFacts facts_{state_.series(), state_.resources()};
};

using MakeRig = std::function<std::unique_ptr<Rig>()>;

class PortsConformance : public ::testing::TestWithParam<MakeRig> {
 protected:
  PortsConformance() : rig_(GetParam()()) {}

  static store::Resource Row(const std::string& name, std::int64_t revision,
                             Kind kind = Kind::kTrainingJob) {
    store::Resource row;
    row.kind = kind;
    row.name = name;
    row.status = "InProgress";
    row.revision = revision;
    row.document = "{}";
    if (kind == Kind::kInstance) row.parent = "job";
    return row;
  }
  Status Commit(Change::Op op, store::Resource row) {
    return rig_->records().Commit({{op, std::move(row), {}, {}}});
  }

  std::unique_ptr<Rig> rig_;
};

TEST_P(PortsConformance, AnInsertedRowIsAtRevisionOneAndEachUpdateAddsOne) {
  ASSERT_TRUE(Commit(Change::Op::kInsert, Row("job", 0)));
  EXPECT_EQ(rig_->records().Get(Kind::kTrainingJob, "job")->revision, 1);
  ASSERT_TRUE(Commit(Change::Op::kUpdate, Row("job", 1)));
  EXPECT_EQ(rig_->records().Get(Kind::kTrainingJob, "job")->revision, 2);
}

TEST_P(PortsConformance, AnUpdateOfAnOldRevisionConflicts) {
  ASSERT_TRUE(Commit(Change::Op::kInsert, Row("job", 0)));
  ASSERT_TRUE(Commit(Change::Op::kUpdate, Row("job", 1)));
  EXPECT_EQ(Commit(Change::Op::kUpdate, Row("job", 1)).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Commit(Change::Op::kDelete, Row("job", 1)).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Commit(Change::Op::kInsert, Row("job", 0)).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(Commit(Change::Op::kUpdate, Row("nobody", 1)).error().code, ErrorCode::kNotFound);
}

TEST_P(PortsConformance, ACommitIsAllOrNothing) {
  ASSERT_TRUE(Commit(Change::Op::kInsert, Row("job", 0)));
  const Status failed =
      rig_->records().Commit({{Change::Op::kInsert, Row("a-1-1", 0, Kind::kInstance), {}, {}},
                              {Change::Op::kUpdate, Row("job", 7), {}, {}}});
  EXPECT_EQ(failed.error().code, ErrorCode::kConflict);
  EXPECT_THAT(*rig_->records().Children(Kind::kInstance, "job"), IsEmpty());
}

TEST_P(PortsConformance, LiveAndChildrenTellWhatIsThere) {
  ASSERT_TRUE(Commit(Change::Op::kInsert, Row("job", 0)));
  ASSERT_TRUE(Commit(Change::Op::kInsert, Row("a-1-1", 0, Kind::kInstance)));
  EXPECT_THAT(*rig_->records().Live(Kind::kTrainingJob), SizeIs(1));
  EXPECT_THAT(*rig_->records().Children(Kind::kInstance, "job"), SizeIs(1));
  EXPECT_THAT(*rig_->records().Children(Kind::kInstance, "other"), IsEmpty());
  store::Resource finished = Row("job", 1);
  finished.live = false;
  ASSERT_TRUE(Commit(Change::Op::kUpdate, finished));
  EXPECT_THAT(*rig_->records().Live(Kind::kTrainingJob), IsEmpty());
  ASSERT_TRUE(Commit(Change::Op::kDelete, Row("a-1-1", 1, Kind::kInstance)));
  EXPECT_THAT(*rig_->records().Live(Kind::kInstance), IsEmpty());
}

TEST_P(PortsConformance, ACommitTellsEachChangeOnceBeforeItReturns) {
  std::vector<std::string> heard;
  rig_->OnCommit([&](Kind, const std::string& name) { heard.push_back(name); });
  ASSERT_TRUE(
      rig_->records().Commit({{Change::Op::kInsert, Row("job", 0), {}, {}},
                              {Change::Op::kInsert, Row("a-1-1", 0, Kind::kInstance), {}, {}}}));
  EXPECT_THAT(heard, ElementsAre("job", "a-1-1"));
  EXPECT_FALSE(Commit(Change::Op::kUpdate, Row("job", 9)));
  EXPECT_THAT(heard, SizeIs(2)) << "what failed is no news";
}

TEST_P(PortsConformance, MetricsMoveTheirOffsetOnce) {
  EXPECT_EQ(rig_->metrics().Offset("i").value(), 0u);
  ASSERT_TRUE(rig_->metrics().Ingest({"i", 0, 10, {}}));
  EXPECT_EQ(rig_->metrics().Offset("i").value(), 10u);
  EXPECT_EQ(rig_->metrics().Ingest({"i", 0, 10, {}}).error().code, ErrorCode::kConflict);
}

TEST_P(PortsConformance, ACurveIsWhatAJobEmittedInTheOrderInWhichItDid) {
  MetricSink::Batch batch{"i-1", 0, 10, {}};
  for (const double value : {0.5, 0.75, 0.25}) {
    store::Series::Sample sample;
    sample.key = TrainingMetricKey("job", "loss");
    // In one and the same millisecond.
    sample.point = {FromUnixMillis(1'700'000'000'000), value, 1, value, value, ""};
    batch.samples.push_back(sample);
  }
  ASSERT_TRUE(rig_->metrics().Ingest(batch));
  EXPECT_THAT(*rig_->facts().Curve("job", "loss"), ElementsAre(0.5, 0.75, 0.25));
  EXPECT_THAT(*rig_->facts().Curve("another", "loss"), IsEmpty());
  EXPECT_THAT(*rig_->facts().Tags("arn:of:nothing"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Fake, PortsConformance,
                         ::testing::Values([] { return std::make_unique<FakeRig>(); }));
INSTANTIATE_TEST_SUITE_P(Real, PortsConformance,
                         ::testing::Values([] { return std::make_unique<RealRig>(); }));

}  // namespace
}  // namespace sabia::control
