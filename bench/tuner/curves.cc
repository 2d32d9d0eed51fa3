#include "curves.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <list>
#include <sstream>

#include "base/check.h"
#include "base/json.h"
#include "problem.h"
#include "tuner/hyperband.h"
#include "tuner/random_search.h"

namespace sabia::bench {
namespace {

using tuner::Measurement;
using tuner::Trial;

// The table's curves, found by the number that its problem gives for a configuration: its row.
struct Curves {
  std::vector<std::int64_t> epochs;
  std::vector<std::vector<double>> losses;
};

// Splits the file: a table whose objective is the number of the row, and the curves.
Result<Curves> SplitTable(const std::string& path, const std::string& rows_path) {
  std::ifstream in(path);
  std::ofstream out(rows_path);
  Curves curves;
  std::size_t parameters = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string kept;
    std::vector<double> losses;
    std::size_t column = 0;
    for (std::string field; std::getline(fields, field, ','); ++column) {
      const bool header = parameters == 0 || curves.losses.empty();
      if (header && field.starts_with("loss@")) {
        curves.epochs.push_back(std::stoll(field.substr(5)));
      } else if (field.find(':') != std::string::npos) {
        ++parameters;
        kept += field + ",";
      } else if (column < parameters) {
        kept += field + ",";
      } else {
        losses.push_back(std::stod(field));
      }
    }
    if (losses.empty()) {
      out << kept << "objective\n";
      continue;
    }
    if (losses.size() != curves.epochs.size()) return Fail(ErrorCode::kCorrupt, "'{}'", line);
    out << kept << curves.losses.size() << '\n';
    curves.losses.push_back(std::move(losses));
  }
  if (curves.losses.empty()) return Fail(ErrorCode::kNotFound, "no curves in '{}'", path);
  return curves;
}

struct Running {
  Trial trial;
  const std::vector<double>* losses = nullptr;
  std::int64_t next_at = 0;  // epochs since the beginning, on this place
};

class Simulation {
 public:
  Simulation(const Problem& problem, Curves curves, const CurveOptions& options)
      : problem_(problem), curves_(std::move(curves)), options_(options) {
    hyperband_ = MakeHyperband();
    if (options.strategy == "random") {
      random_ = std::make_unique<tuner::RandomSearch>(
          problem.space(),
          tuner::RandomSearchOptions{.seed = options.seed, .draw = tuner::Draw::kIndependent});
    }
  }

  std::string Run() {
    std::int64_t spent = 0;
    for (std::size_t i = 0; i < options_.parallel; ++i) Start(0);
    while (spent < options_.epochs) {
      const auto first = std::ranges::min_element(running_, {}, &Running::next_at);
      spent += Measure(*first);
      Note(spent, first->trial.curve.back().value);
      const std::int64_t now = first->next_at;
      const bool done = first->trial.curve.size() == curves_.epochs.size();
      if (!done && !Stops(*first)) {
        first->next_at += Gap(*first);
        continue;
      }
      first->trial.objective = first->trial.curve.back().value;
      finished_.push_back(std::move(first->trial));
      running_.erase(first);
      Start(now);
    }
    return json::serialize(json::object{{"seed", options_.seed},
                                        {"trials", finished_.size()},
                                        {"epochs", json::value_from(epochs_)},
                                        {"best", json::value_from(best_)}});
  }

 private:
  std::unique_ptr<tuner::Hyperband> MakeHyperband() const {
    auto made = tuner::Hyperband::Create(
        problem_.space(),
        {.seed = options_.seed,
         .min_resource = curves_.epochs.front(),
         .max_resource = curves_.epochs.back(),
         .one_bracket = options_.strategy == "asha"},
        std::make_unique<tuner::RandomSearch>(
            problem_.space(),
            tuner::RandomSearchOptions{.seed = options_.seed, .draw = tuner::Draw::kIndependent}));
    CHECK_MSG(made.has_value(), made.error().message);
    return std::make_unique<tuner::Hyperband>(std::move(*made));
  }

  // Epochs up to the next measurement.
  std::int64_t Gap(const Running& run) const {
    const std::size_t next = run.trial.curve.size();
    return curves_.epochs[next] - (next == 0 ? 0 : curves_.epochs[next - 1]);
  }

  void Start(std::int64_t now) {
    std::vector<Trial> pending;
    for (const Running& run : running_) pending.push_back(run.trial);
    tuner::Strategy& strategy = random_ ? static_cast<tuner::Strategy&>(*random_) : *hyperband_;
    auto suggestion = strategy.Suggest({finished_, pending});
    CHECK(suggestion.has_value());
    Running run;
    run.trial.number = created_++;
    run.trial.values = std::move(suggestion->values);
    run.losses = &curves_.losses[static_cast<std::size_t>(problem_.Evaluate(run.trial.values))];
    run.next_at = now + Gap(run);
    running_.push_back(std::move(run));
  }

  // Epochs that it took.
  std::int64_t Measure(Running& run) const {
    const std::int64_t took = Gap(run);
    const std::size_t next = run.trial.curve.size();
    run.trial.curve.push_back({curves_.epochs[next], (*run.losses)[next]});
    return took;
  }

  bool Stops(const Running& run) const {
    if (random_) return false;
    std::vector<Trial> others = finished_;
    for (const Running& other : running_) others.push_back(other.trial);
    return hyperband_->Judge(run.trial, others) == tuner::Verdict::kStop;
  }

  void Note(std::int64_t spent, double loss) {
    if (!best_.empty() && loss >= best_.back()) return;
    epochs_.push_back(spent);
    best_.push_back(loss);
  }

  const Problem& problem_;
  Curves curves_;
  CurveOptions options_;
  std::unique_ptr<tuner::Strategy> random_;
  std::unique_ptr<tuner::Hyperband> hyperband_;
  std::vector<Trial> finished_;
  std::list<Running> running_;
  std::int64_t created_ = 0;
  std::vector<std::int64_t> epochs_;
  std::vector<double> best_;
};

}  // namespace

Result<std::string> RunCurves(const std::string& path, const CurveOptions& options) {
  const std::string rows = path + ".rows";
  ASSIGN_OR_RETURN(Curves curves, SplitTable(path, rows));
  ASSIGN_OR_RETURN(const auto problem, OpenProblem(rows));
  return Simulation(*problem, std::move(curves), options).Run();
}

}  // namespace sabia::bench
