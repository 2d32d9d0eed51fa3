// A root of the container contract in a temporary directory, and the training program run on it in
// this process.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "algorithms/xgboost.h"
#include "env/posix/posix_files.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"

namespace sabia::algorithms {

class ContainerRoot {
 public:
  const std::filesystem::path& path() const { return directory_.path(); }

  void Write(const std::string& name, const std::string& content) {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(path() / name); }

  void Hyperparameters(const std::string& json) {
    Write("input/config/hyperparameters.json", json);
  }
  // Channels of one content type, in the order of the names.
  void Channels(const std::vector<std::string>& names, const std::string& content_type,
                const std::string& mode = "File") {
    std::string json;
    for (const std::string& name : names) {
      json += (json.empty() ? "{\"" : ",\"") + name + R"(":{"ContentType":")" + content_type +
              R"(","TrainingInputMode":")" + mode +
              R"(","S3DistributionType":"FullyReplicated","RecordWrapperType":"None"})";
    }
    Write("input/config/inputdataconfig.json", json + "}");
  }
  void Checkpoints() {
    Write("input/config/checkpointconfig.json",
          R"({"S3Uri":"s3://b/c","LocalPath":"/opt/ml/checkpoints"})");
  }
  // Abalone in libsvm form as both channels.
  void Abalone() {
    const std::filesystem::path data = std::filesystem::path(EXAMPLES_DATA) / "abalone";
    for (const std::string part : {"abalone.train_0", "abalone.train_1"})
      CopyIn(data / part, "train");
    CopyIn(data / "abalone.validation", "validation");
    Channels({"train", "validation"}, "text/libsvm");
  }

  struct Ended {
    int code = 0;
    std::string output;
  };
  Ended Run(const std::vector<std::string>& args = {"train"}, const std::string& input = "") {
    Write("stdin", input);
    env::ManualClock clock(FromUnixMillis(1'700'000'000'000));
    env::PosixFiles files;
    const env::UniqueFd in(::open((path() / "stdin").c_str(), O_RDONLY));
    const env::UniqueFd out(
        ::open((path() / "stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
    const int code = RunXgboost(args, {.clock = clock,
                                       .files = files,
                                       .root = path(),
                                       .input = in.get(),
                                       .output = out.get(),
                                       .libraries = libraries});
    return {code, Read("stdout")};
  }

  std::vector<std::string> libraries;  // empty: the machine's

 private:
  void CopyIn(const std::filesystem::path& file, const std::string& channel) {
    const std::filesystem::path folder = path() / "input/data" / channel;
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(file, folder / file.filename());
  }

  env::TemporaryDirectory directory_;
};

// The lines that start with "[<digit>" and hold a metric: those of the rounds.
inline std::vector<std::string> RoundLines(const std::string& output) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < output.size()) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    const std::string line = output.substr(begin, end - begin);
    if (line.find("]\ttrain-") != std::string::npos) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

}  // namespace sabia::algorithms
