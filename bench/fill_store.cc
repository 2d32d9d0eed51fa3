// Fills the store of a stopped daemon with finished jobs: copies of the job named "template" under
// other names.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "base/json.h"
#include "model/training_job.h"
#include "store/database.h"
#include "store/paths.h"
#include "store/resources.h"
#include "store/state.h"

namespace sabia {
namespace {

constexpr int kJobsPerCommit = 2000;

Status Fill(const std::string& home, int jobs) {
  const store::Paths paths{env::Path(home)};
  ASSIGN_OR_RETURN(const auto database, store::OpenState(paths));
  store::Resources resources(*database);
  ASSIGN_OR_RETURN(const store::Resource first,
                   resources.Get(store::Kind::kTrainingJob, "template"));
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(first.document));
  ASSIGN_OR_RETURN(model::TrainingJob job, model::TrainingJob::FromJson(document));
  const std::string arn = job.arn.substr(0, job.arn.rfind('/') + 1);
  for (int done = 0; done < jobs;) {
    std::vector<store::Change> changes;
    for (int i = 0; i < kJobsPerCommit && done < jobs; ++i, ++done) {
      job.name = "filled-" + std::to_string(done);
      job.arn = arn + job.name;
      job.request.Edit()["TrainingJobName"] = job.name;
      store::Change change;
      change.op = store::Change::Op::kInsert;
      change.resource = first;
      change.resource.name = job.name;
      change.resource.revision = 0;
      change.resource.created += Millis(done);
      change.resource.modified += Millis(done);
      job.created = change.resource.created;
      change.resource.document = json::serialize(job.ToJson());
      changes.push_back(std::move(change));
    }
    RETURN_IF_ERROR(resources.Commit(changes));
  }
  return {};
}

}  // namespace
}  // namespace sabia

int main(int argc, char** argv) {
  std::string home;
  int jobs = 1'000'000;
  CLI::App app{"Fills a store with finished jobs", "fill_store"};
  app.add_option("--home", home)->required();
  app.add_option("--jobs", jobs);
  CLI11_PARSE(app, argc, argv);
  const auto status = sabia::Fill(home, jobs);
  if (!status) std::fprintf(stderr, "fill_store: %s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
