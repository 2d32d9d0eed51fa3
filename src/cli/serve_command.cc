#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "base/log.h"
#include "cli/aws_environment.h"
#include "cli/command.h"
#include "cli/daemon.h"

namespace sabia::cli {
namespace {

constexpr Millis kStopGrace{5'000};

struct ServeArguments {
  DaemonOptions daemon;
  std::string log_level = "info";
  double spot_notice_seconds = 120;
  double stop_grace_seconds = 120;
  std::string imds = "off";
};

constexpr char kInstanceMetadata[] = "http://169.254.169.254";

// "" for "off".
Result<std::string> MetadataUrl(const std::string& setting) {
  if (setting == "off") return "";
  if (setting == "on") return kInstanceMetadata;
  if (!setting.starts_with("http://") || setting.size() == sizeof("http://") - 1) {
    return Fail(ErrorCode::kInvalidArgument, "--imds is '{}': on, off, or an http:// URL", setting);
  }
  return setting.ends_with('/') ? setting.substr(0, setting.size() - 1) : setting;
}

LogLevel LevelOf(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warn") return LogLevel::kWarn;
  if (name == "error") return LogLevel::kError;
  return LogLevel::kInfo;
}

Millis FromSeconds(double seconds) { return Millis(static_cast<std::int64_t>(seconds * 1000)); }

int Serve(const Invocation& invocation, ServeArguments arguments) {
  SetLogLevel(LevelOf(arguments.log_level));
  // Blocked in every thread that starts from here on; this one waits for them below.
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGINT);
  pthread_sigmask(SIG_BLOCK, &endings, nullptr);

  arguments.daemon.paths = invocation.paths();
  arguments.daemon.executable = invocation.executable;
  arguments.daemon.spot_notice = FromSeconds(arguments.spot_notice_seconds);
  arguments.daemon.stop_grace = FromSeconds(arguments.stop_grace_seconds);
  arguments.daemon.keys = ReadKeyEnvironment();
  auto imds = MetadataUrl(arguments.imds);
  if (!imds) return Complain(imds.error());
  arguments.daemon.imds = std::move(*imds);
  if (::access(arguments.daemon.python.c_str(), X_OK) != 0) {
    return Complain(
        FailErrno(errno, "--python '{}' cannot be run", arguments.daemon.python).value());
  }
  auto daemon = Daemon::Start(arguments.daemon);
  if (!daemon) {
    Complain(daemon.error());
    return kExitFailed;
  }
  const std::string home = arguments.daemon.paths.home().native();
  std::printf("sabia serves %s (TLS %s), home %s\n", (*daemon)->http_url().c_str(),
              (*daemon)->https_url().c_str(), home.c_str());
  std::printf("in another shell: eval \"$(%s --home %s env)\"\n", invocation.executable.c_str(),
              ShellQuote(home).c_str());
  std::fflush(stdout);

  int signal = 0;
  sigwait(&endings, &signal);
  LogInfo("stopping on {}; running jobs go on and are adopted by the next daemon",
          signal == SIGTERM ? "SIGTERM" : "SIGINT");
  (*daemon)->Stop(kStopGrace);
  return kExitDone;
}

void AddSpotOptions(CLI::App& command, ServeArguments& arguments) {
  command
      .add_option("--spot-notice-seconds", arguments.spot_notice_seconds,
                  "Between the notice of a spot interruption and the end of the instance")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--spot-market", arguments.daemon.spot_market,
                  "When spot capacity is there: none, command, poisson:mtbf=2h,return=10m, or a "
                  "file (docs/semantics/spot.md)")
      ->capture_default_str();
  command
      .add_option("--imds", arguments.imds,
                  "Obey the spot notices of the machine itself: on, off, or the URL of its "
                  "instance metadata")
      ->capture_default_str();
}

void AddDataOptions(CLI::App& command, DaemonOptions& daemon) {
  command
      .add_option("--cache-gib", daemon.cache_gib,
                  "Objects of buckets outside that are kept on the disk between jobs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--fastfile-mib", daemon.fastfile_mib,
                  "Memory per instance for what FastFile channels of buckets outside fetch ahead")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  command
      .add_option("--fastfile-disk-gib", daemon.fastfile_disk_gib,
                  "Disk per instance for what FastFile channels of buckets outside read again")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace

void AddServeCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("serve", "Run the engine in the foreground");
  auto arguments = std::make_shared<ServeArguments>();
  DaemonOptions& daemon = arguments->daemon;
  command
      ->add_option("--address", daemon.address,
                   "Address to listen on; other than loopback, others can reach it")
      ->capture_default_str();
  const CLI::Range ports(0, 65'535);
  const CLI::Option* http =
      command->add_option("--port", daemon.port, "HTTP port; 0 takes any free one")
          ->check(ports)
          ->capture_default_str();
  const CLI::Option* https =
      command
          ->add_option("--tls-port", daemon.tls_port,
                       "HTTPS port; 0 takes any free one, and so does --port 0 alone")
          ->check(ports)
          ->capture_default_str();
  command->add_option("--region", daemon.region, "Region that a new home belongs to (us-west-2)");
  command->add_option("--python", daemon.python, "Interpreter of script mode")
      ->capture_default_str();
  command
      ->add_option("--overcommit", daemon.overcommit,
                   "CPUs and memory offered to jobs, as a multiple of the machine's; 0: jobs wait")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_flag(
      "--refuse-larger", daemon.refuse_larger,
      "Fail jobs whose instance type is larger than this machine, instead of running them on it");
  AddSpotOptions(*command, *arguments);
  command
      ->add_option("--stop-grace-seconds", arguments->stop_grace_seconds,
                   "Between SIGTERM and SIGKILL when a job is stopped")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddDataOptions(*command, daemon);
  command
      ->add_option("--log-level", arguments->log_level,
                   "Of the daemon's own log, on standard error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  command->callback([&invocation, arguments, http, https] {
    // Who asks for any port does not want to hear that the other one is taken.
    if (http->count() > 0 && arguments->daemon.port == 0 && https->count() == 0) {
      arguments->daemon.tls_port = 0;
    }
    invocation.run = [&invocation, arguments] { return Serve(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
