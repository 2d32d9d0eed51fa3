// A real agent over a real directory, in a child process, with an S3 endpoint that is a directory
// (bucket "bucket").
//
// For tests whose names begin with BWRAP_: Available() says why they must be skipped, if they must.
#pragma once

#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "agent/agent.h"
#include "agent/layout.h"
#include "agent/testing/plain_log.h"
#include "base/check.h"
#include "env/posix/posix_clock.h"
#include "env/testing/temporary_directory.h"
#include "wire/testing/fake_s3_client.h"

namespace sabia::agent {

class AgentRun {
 public:
  AgentRun() : directory_(temporary_.path() / "instance"), s3_(temporary_.path() / "s3") {
    CHECK(files_.MakeDirectories(directory_));
    CHECK(files_.MakeDirectories(temporary_.path() / "blobs"));
    CHECK(s3_.MakeBucket("bucket"));
    spec.id = "test-1-" + std::to_string(::getpid());
    spec.job_name = "job";
    spec.job_arn = "arn:aws:sagemaker:us-west-2:123456789012:training-job/job";
    spec.region = "us-west-2";
    spec.host = "algo-1";
    spec.hosts = {"algo-1"};
    spec.instance_type = "ml.m5.large";
    spec.image = model::ImageKind::kEntrypoint;
    spec.log_file = (temporary_.path() / "log").native();
    spec.python = "/usr/bin/python3";
    spec.endpoint = "http://127.0.0.1:1";
    spec.access_key_id = "AKIDEXAMPLE";
    spec.secret_access_key = "very-secret-key";
    spec.model_s3_uri = "s3://bucket/out/model.tar.gz";
    spec.output_s3_uri = "s3://bucket/out/output.tar.gz";
  }
  ~AgentRun() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  static bool Available() { return ::access("/usr/bin/bwrap", X_OK) == 0; }

  // The program is a shell script.
  void Shell(const std::string& script) {
    spec.entrypoint = {"/bin/sh", "-c"};
    spec.arguments = {script};
  }

  // A File or FastFile channel of embedded objects.
  void AddChannel(const std::string& name, const std::map<std::string, std::string>& objects,
                  model::InputMode mode = model::InputMode::kFile) {
    std::string listing;
    for (const auto& [path, content] : objects) {
      const Path blob = temporary_.path() / "blobs" / std::to_string(++blobs_);
      CHECK(files_.WriteAtomically(blob, content,
                                   {.mode = 0444, .durability = env::Durability::kVolatile}));
      listing += json::serialize(
          json::object{{"path", path}, {"size", content.size()}, {"blob", blob.native()}});
      listing += '\n';
      blob_paths_[path] = blob;
    }
    AddListing(name, listing, mode);
  }

  // A channel of objects at an endpoint outside, which is the same directory as the daemon's.
  void AddRemoteChannel(const std::string& name, const std::map<std::string, std::string>& objects,
                        model::InputMode mode = model::InputMode::kFile) {
    std::string listing;
    for (const auto& [path, content] : objects) {
      const std::string key = name + "/" + path;
      CHECK(s3_.Put({"bucket", key}, content));
      listing += json::serialize(json::object{{"path", path},
                                              {"size", content.size()},
                                              {"bucket", "bucket"},
                                              {"key", key},
                                              {"etag", "e"},
                                              {"modified", 1'600'000'000'000}});
      listing += '\n';
    }
    AddListing(name, listing, mode);
    spec.external_buckets["bucket"] = json::object{{"url", "http://outside.example"}};
    spec.cache = (temporary_.path() / "cache").native();
  }

  void Start() {
    Write("spec.json", json::serialize(spec.ToJson()));
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ != 0) return;
    if (run_as != 0) GiveUpPrivileges();
    const Path s3_root = temporary_.path() / "s3";
    env::PosixClock clock;
    const AgentParts parts{
        clock,
        [s3_root](const model::InstanceSpec&, Millis) -> Result<std::unique_ptr<wire::S3Client>> {
          return std::make_unique<wire::FakeS3Client>(s3_root);
        },
        [](const env::Path& file) { return PlainLog::Open(file); }};
    ::_exit(RunAgent({.directory = directory_, .paths = {}}, parts).status);
  }

  int Wait() {
    int status = 0;
    CHECK(::waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  model::Report Run() {
    Start();
    CHECK(Wait() == 0);
    return Report();
  }

  // Polls until it holds; false after half a minute.
  bool Until(const std::function<bool()>& condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) return true;
      ::poll(nullptr, 0, 5);
    }
    return false;
  }
  bool UntilLogged(const std::string& text) {
    return Until([&] { return Log().find(text) != std::string::npos; });
  }

  void Order(const model::Orders& orders) {
    Write("orders.json", json::serialize(orders.ToJson()));
    Send("");
  }
  // An agent that waits goes on in a directory of this name, with the spec as it is now.
  void CallTo(const std::string& name) {
    const Path next = temporary_.path() / name;
    CHECK(files_.MakeDirectories(next));
    CHECK(files_.WriteAtomically(next / "spec.json", json::serialize(spec.ToJson()),
                                 {.mode = 0600, .durability = env::Durability::kVolatile}));
    Send(next.native());
    directory_ = next;
  }
  void Send(const std::string& text) {
    const std::string message = text.empty() ? std::string(1, '\0') : text + "\n";
    const env::UniqueFd poke(::open(layout().poke().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    (void)!::write(poke.get(), message.data(), message.size());
  }

  model::Report Report() {
    const auto text = files_.Read(layout().report(), 1 << 20);
    if (!text) return {};
    const auto document = ParseJsonObject(*text);
    CHECK(document);
    auto report = model::Report::FromJson(*document);
    CHECK(report);
    return *report;
  }
  std::string Log() { return files_.Read(temporary_.path() / "log", 64 << 20).value_or(""); }
  std::string Object(const std::string& key) {
    return s3_.Get({"bucket", key}, 64 << 20).value_or("<none>");
  }
  std::vector<std::string> Keys() {
    std::vector<std::string> out;
    const auto objects = s3_.List("bucket", "");
    CHECK(objects);
    for (const auto& object : *objects) out.push_back(object.key);
    return out;
  }

  wire::FakeS3Client& s3() { return s3_; }
  Layout layout() const { return Layout(directory_); }
  const Path& base() const { return temporary_.path(); }
  Path blob(const std::string& path) { return blob_paths_[path]; }
  pid_t pid() const { return pid_; }
  void Kill() { ::kill(pid_, SIGKILL); }
  // How often the agent gave up the processor so far: a measure of its loops.
  long Switches() {
    const std::string text =
        files_.Read("/proc/" + std::to_string(pid_) + "/status", 1 << 20).value_or("");
    const auto at = text.find("voluntary_ctxt_switches:");
    return at == text.npos ? -1 : std::stol(text.substr(at + 24));
  }

  model::InstanceSpec spec;
  uid_t run_as = 0;  // of the agent; 0: as the test

 private:
  void AddListing(const std::string& name, const std::string& listing, model::InputMode mode) {
    Write("listing-" + name, listing);
    model::ChannelSpec channel;
    channel.name = name;
    channel.mode = mode;
    channel.s3_uri = "s3://bucket/" + name;
    channel.listing = "listing-" + name;
    spec.channels.push_back(channel);
  }

  // In the child. Everything below the temporary directory becomes that user's.
  void GiveUpPrivileges() {
    CHECK(::chown(base().c_str(), run_as, run_as) == 0);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(base())) {
      CHECK(::chown(entry.path().c_str(), run_as, run_as) == 0);
    }
    CHECK(::setgroups(0, nullptr) == 0);
    CHECK(::setresgid(run_as, run_as, run_as) == 0);
    CHECK(::setresuid(run_as, run_as, run_as) == 0);
    // Setting ids makes a process undumpable, and its /proc files root's; a user's own process is
    // dumpable.
    ::prctl(PR_SET_DUMPABLE, 1);
  }
  void Write(const std::string& name, const std::string& content) {
    CHECK(files_.WriteAtomically(directory_ / name, content,
                                 {.mode = 0600, .durability = env::Durability::kVolatile}));
  }

  env::TemporaryDirectory temporary_;
  Path directory_;
  wire::FakeS3Client s3_;
  env::PosixFiles files_;
  std::map<std::string, Path> blob_paths_;
  int blobs_ = 0;
  pid_t pid_ = -1;
};

}  // namespace sabia::agent
