// Ports that count effects and let the daemon die at a chosen one, or a chosen one fail.
//
// Dying is an exception that no production code catches, so nothing after it happens, as after kill
// -9. It strikes before the Nth effect or right behind it: the effect took place, but nobody was
// told. An effect that fails did not take place.
#pragma once

#include <string>

#include "control/ports.h"

namespace sabia::control::testing {

struct Died {};

class Faults {
 public:
  void DieAt(int effect, bool after) {
    target_ = effect;
    after_ = after;
    fails_ -= count_;
    count_ = 0;
    fired_ = false;
  }
  void Never() { target_ = fails_ = -1; }
  void FailAt(int effect) { fails_ = count_ + effect; }
  // How many effects there were since DieAt.
  int count() const { return count_; }
  bool fails() const { return count_ <= fails_; }  // an effect is still to fail
  bool armed() const { return target_ >= 0; }      // it is still to die
  bool fired() const { return fired_; }
  const std::string& where() const { return where_; }

  // Runs the effect, or dies.
  template <typename Effect>
  auto Around(const char* name, Effect effect) -> decltype(effect()) {
    const bool fails = count_ == fails_;
    const bool now = count_++ == target_;
    if (now && !after_) Die(name);
    if (fails) return Fail(ErrorCode::kUnavailable, "{} fails for the test", name);
    auto result = effect();
    if (now) Die(name);
    return result;
  }

 private:
  [[noreturn]] void Die(const char* name) {
    fired_ = true;
    target_ = -1;
    where_ = std::string(after_ ? "after " : "before ") + name;
    throw Died{};
  }

  int target_ = -1;
  int fails_ = -1;
  int count_ = 0;
  bool after_ = false;
  bool fired_ = false;
  std::string where_;
};

class FaultyRecords final : public Records {
 public:
  FaultyRecords(Records& inner, Faults& faults) : inner_(inner), faults_(faults) {}
  Result<store::Resource> Get(store::Kind kind, std::string_view name) override {
    return inner_.Get(kind, name);
  }
  Result<std::vector<store::Resource>> Live(store::Kind kind) override { return inner_.Live(kind); }
  Result<std::vector<store::Resource>> Children(store::Kind kind,
                                                std::string_view parent) override {
    return inner_.Children(kind, parent);
  }
  Status Commit(const std::vector<store::Change>& changes) override {
    return faults_.Around("Commit", [&] { return inner_.Commit(changes); });
  }

 private:
  Records& inner_;
  Faults& faults_;
};

class FaultyFiles final : public fleet::InstanceFiles {
 public:
  FaultyFiles(fleet::InstanceFiles& inner, Faults& faults) : inner_(inner), faults_(faults) {}
  env::Path Directory(const std::string& id) const override { return inner_.Directory(id); }
  Status Prepare(const std::string& id, const fleet::Preparation& preparation) override {
    return faults_.Around("Prepare", [&] { return inner_.Prepare(id, preparation); });
  }
  Status Give(const std::string& id, const model::Orders& orders) override {
    return faults_.Around("Give", [&] { return inner_.Give(id, orders); });
  }
  Result<fleet::Observation> Observe(const std::string& id, bool alive) override {
    return inner_.Observe(id, alive);
  }
  Result<std::string> ReadMetrics(const std::string& id, std::uint64_t from,
                                  std::size_t limit) override {
    return inner_.ReadMetrics(id, from, limit);
  }
  Status Remove(const std::string& id) override {
    return faults_.Around("Remove", [&] { return inner_.Remove(id); });
  }
  Result<std::vector<std::string>> List() override { return inner_.List(); }

 private:
  fleet::InstanceFiles& inner_;
  Faults& faults_;
};

class FaultyLauncher final : public fleet::Launcher {
 public:
  FaultyLauncher(fleet::Launcher& inner, Faults& faults) : inner_(inner), faults_(faults) {}
  Status Start(const fleet::AgentName& agent) override {
    return faults_.Around("Start", [&] { return inner_.Start(agent); });
  }
  bool Runs(const std::string& id) override { return inner_.Runs(id); }
  Status Kill(const fleet::AgentName& agent, int pid) override {
    return faults_.Around("Kill", [&] { return inner_.Kill(agent, pid); });
  }
  void OnExit(std::function<void(const std::string&)> listener) override {
    inner_.OnExit(std::move(listener));
  }

 private:
  fleet::Launcher& inner_;
  Faults& faults_;
};

class FaultyMetrics final : public MetricSink {
 public:
  FaultyMetrics(MetricSink& inner, Faults& faults) : inner_(inner), faults_(faults) {}
  Result<std::uint64_t> Offset(const std::string& source) override { return inner_.Offset(source); }
  Status Ingest(const Batch& batch) override {
    return faults_.Around("Ingest", [&] { return inner_.Ingest(batch); });
  }

 private:
  MetricSink& inner_;
  Faults& faults_;
};

}  // namespace sabia::control::testing
