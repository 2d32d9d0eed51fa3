// docs/training-states.md is generated from kTrainingEdges, and this test holds it to them. After a
// change of the table: model_test --gtest_also_run_disabled_tests
// --gtest_filter='*WriteTheDocument'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "model/training_job.h"

namespace sabia::model {
namespace {

const char* const kDocument = SABIA_SOURCE_DIR "/docs/training-states.md";

std::string Generate() {
  std::string out =
      "# States of a training job\n"
      "\n"
      "Generated from `kTrainingEdges` in `src/model/training_job.h`; a test of `src/model` keeps "
      "it so. The phase says\n"
      "what a controller does next. Clients see `TrainingJobStatus` and `SecondaryStatus` instead; "
      "the table gives the\n"
      "first, `DescribeTrainingJob` both.\n"
      "\n"
      "```mermaid\n"
      "stateDiagram-v2\n"
      "  [*] --> queued\n";
  for (const auto& edge : kTrainingEdges)
    out += fmt::format("  {} --> {}\n", Name(edge.from), Name(edge.to));
  for (int i = 0; i <= static_cast<int>(TrainingPhase::kStopped); ++i) {
    const auto phase = static_cast<TrainingPhase>(i);
    if (IsTerminal(phase)) out += fmt::format("  {} --> [*]\n", Name(phase));
  }
  out += "```\n\n| phase | TrainingJobStatus | next |\n|---|---|---|\n";
  for (int i = 0; i <= static_cast<int>(TrainingPhase::kStopped); ++i) {
    const auto phase = static_cast<TrainingPhase>(i);
    std::string next;
    for (const auto& edge : kTrainingEdges) {
      if (edge.from != phase) continue;
      next += next.empty() ? "" : ", ";
      next += Name(edge.to);
    }
    out += fmt::format("| {} | {} | {} |\n", Name(phase), PrimaryStatus(phase),
                       next.empty() ? "–" : next);
  }
  return out;
}

TEST(TrainingStates, TheDocumentIsUpToDate) {
  std::ifstream file(kDocument);
  std::ostringstream content;
  content << file.rdbuf();
  EXPECT_EQ(content.str(), Generate());
}

TEST(TrainingStates, DISABLED_WriteTheDocument) { std::ofstream(kDocument) << Generate(); }

}  // namespace
}  // namespace sabia::model
