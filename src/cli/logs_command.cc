#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/client.h"
#include "cli/command.h"

namespace sabia::cli {
namespace {

constexpr Millis kLookAgain{300};
constexpr char kGroup[] = "/aws/sagemaker/TrainingJobs";

struct LogsArguments {
  std::string job;
  bool follow = false;
  bool timestamps = false;
};

class LogReader {
 public:
  LogReader(Client& client, const LogsArguments& arguments)
      : client_(client), arguments_(arguments) {}

  // Prints what is new in every stream; streams of later attempts appear as they begin.
  Status PrintNew() {
    ASSIGN_OR_RETURN(const std::vector<std::string> streams, Streams());
    for (const std::string& stream : streams) RETURN_IF_ERROR(PrintStream(stream, streams.size()));
    if (std::fflush(stdout) != 0) return FailErrno(errno, "failed to write the log");
    return {};
  }

  Result<bool> JobEnded() {
    ASSIGN_OR_RETURN(
        const json::object job,
        client_.SageMaker("DescribeTrainingJob", {{"TrainingJobName", arguments_.job}}));
    const std::string status = GetString(job, "TrainingJobStatus");
    return status == "Completed" || status == "Failed" || status == "Stopped";
  }

 private:
  Result<std::vector<std::string>> Streams() {
    std::vector<std::string> out;
    json::object input{{"logGroupName", kGroup}, {"logStreamNamePrefix", arguments_.job + "/"}};
    while (true) {
      auto page = client_.Logs("DescribeLogStreams", input);
      if (!page) {
        if (page.error().code == ErrorCode::kNotFound) return out;
        return tl::make_unexpected(std::move(page).error());
      }
      if (const json::array* streams = FindArray(*page, "logStreams")) {
        for (const json::value& stream : *streams) {
          out.push_back(GetString(stream.as_object(), "logStreamName"));
        }
      }
      const std::string token = GetString(*page, "nextToken");
      if (token.empty()) return out;
      input["nextToken"] = token;
    }
  }

  Status PrintStream(const std::string& stream, std::size_t count) {
    std::string& token = tokens_[stream];
    while (true) {
      json::object input{
          {"logGroupName", kGroup}, {"logStreamName", stream}, {"startFromHead", true}};
      if (!token.empty()) input["nextToken"] = token;
      ASSIGN_OR_RETURN(const json::object page, client_.Logs("GetLogEvents", input));
      token = GetString(page, "nextForwardToken");
      const json::array* events = FindArray(page, "events");
      if (events == nullptr || events->empty()) return {};
      for (const json::value& event : *events) PrintEvent(event.as_object(), stream, count);
    }
  }

  void PrintEvent(const json::object& event, const std::string& stream, std::size_t count) {
    std::string line;
    if (arguments_.timestamps) {
      line += FormatIso8601(FromUnixMillis(GetInt(event, "timestamp"))) + " ";
    }
    if (count > 1) line += stream.substr(stream.find('/') + 1) + " ";
    // A pipe gets the bytes, a terminal only what cannot command it.
    const std::string message = GetString(event, "message");
    line += (terminal_ ? Printable(message) : message) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }

  Client& client_;
  const LogsArguments& arguments_;
  const bool terminal_ = ::isatty(STDOUT_FILENO) == 1;
  std::map<std::string, std::string> tokens_;
};

int PrintLogs(Client& client, const LogsArguments& arguments) {
  LogReader reader(client, arguments);
  while (true) {
    // Asked before reading: what is written before the end is read after it.
    const auto ended = reader.JobEnded();
    if (!ended) return Complain(AboutJob(ended.error(), arguments.job));
    if (const auto printed = reader.PrintNew(); !printed) return Complain(printed.error());
    if (*ended || !arguments.follow) return kExitDone;
    Pause(kLookAgain);
  }
}

}  // namespace

void AddLogsCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("logs", "Print the log of a training job");
  auto arguments = std::make_shared<LogsArguments>();
  command->add_option("job", arguments->job, "The job")->required();
  command->add_flag("-f,--follow", arguments->follow, "Go on until the job ends");
  command->add_flag("-t,--timestamps", arguments->timestamps, "Print the time of each line");
  command->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] {
      auto client = Client::Connect(invocation.paths());
      if (!client) return Complain(client.error());
      return PrintLogs(**client, *arguments);
    };
  });
}

}  // namespace sabia::cli
