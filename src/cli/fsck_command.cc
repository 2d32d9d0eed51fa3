#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "base/encoding.h"
#include "cli/client.h"
#include "cli/command.h"
#include "env/background_thread.h"
#include "env/posix/posix_random.h"
#include "objects/fsck.h"
#include "objects/key_ring.h"
#include "store/home.h"

namespace sabia::cli {
namespace {

// Beside those of command.h.
constexpr int kExitProblems = 4;
constexpr int kExitRepaired = 5;

constexpr Millis kTerminalEvery{250};
constexpr Millis kFileEvery{10'000};
constexpr double kMib = 1024.0 * 1024.0;

struct FsckArguments {
  bool repair = false;
  bool quick = false;
  bool as_json = false;
  bool quiet = false;
};

// Says on stderr how far the check is, until it goes out of scope.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet)
      : terminal_(::isatty(STDERR_FILENO) != 0), every_(terminal_ ? kTerminalEvery : kFileEvery) {
    if (quiet) return;
    thread_ = std::make_unique<env::BackgroundThread>(
        env::BackgroundThread::Options{.first_after = every_}, [this](bool) {
          Print();
          return std::optional<Millis>(every_);
        });
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() {
    thread_.reset();
    if (printed_ && terminal_) std::fputs("\r\x1b[K", stderr);
  }

  objects::FsckProgress& numbers() { return numbers_; }

 private:
  void Print() {
    printed_ = true;
    std::fprintf(stderr, "%ssabia fsck: %llu of %llu versions and parts, %.0f of %.0f MiB%s",
                 terminal_ ? "\r\x1b[K" : "", static_cast<unsigned long long>(numbers_.rows.load()),
                 static_cast<unsigned long long>(numbers_.rows_in_all.load()),
                 static_cast<double>(numbers_.bytes.load()) / kMib,
                 static_cast<double>(numbers_.bytes_in_all.load()) / kMib, terminal_ ? "" : "\n");
    std::fflush(stderr);
  }

  const bool terminal_;
  const Millis every_;
  objects::FsckProgress numbers_;
  bool printed_ = false;
  std::unique_ptr<env::BackgroundThread> thread_;  // last: uses all of the above
};

// "version '…' of 's3://bucket/key'"
std::string Place(const objects::Finding& finding) {
  const objects::RowName& row = finding.row;
  if (row.table == objects::RowName::Table::kNone) return finding.path;
  const std::string bucket =
      row.bucket.empty() ? fmt::format("(bucket number {})", row.bucket_id) : row.bucket;
  std::string out = fmt::format("s3://{}/{}", bucket, row.key);
  if (row.table == objects::RowName::Table::kParts) {
    out += fmt::format(" upload {} part {}", row.upload_id.empty() ? "?" : row.upload_id, row.part);
  } else if (!row.version_id.empty()) {
    out += " version " + row.version_id;
  }
  if (!finding.path.empty()) out += fmt::format(" ({})", finding.path);
  return out;
}

void Print(const objects::FsckReport& report, const FsckArguments& arguments) {
  for (const objects::Finding& finding : report.findings) {
    std::string line = fmt::format("{}: {} {}", Name(finding.kind), Place(finding), finding.detail);
    if (!finding.repair.empty()) line += ": " + finding.repair;
    if (IsHarmless(finding.kind) && finding.repair.empty()) line += ": the next start tidies it";
    std::printf("%s\n", Printable(line).c_str());
  }
  std::printf("checked %llu objects, %llu older versions, %llu parts of uploads, %llu files%s\n",
              static_cast<unsigned long long>(report.objects),
              static_cast<unsigned long long>(report.versions),
              static_cast<unsigned long long>(report.parts),
              static_cast<unsigned long long>(report.files),
              arguments.quick ? "; contents were not read" : "");
  if (!report.lost_and_found.empty()) {
    std::printf("what was taken out is in %s\n", report.lost_and_found.c_str());
  }
  if (report.Problems() == 0) {
    std::printf("no problems\n");
  } else if (!arguments.repair) {
    std::printf("%zu problem%s; 'sabia fsck --repair' puts right what can be\n", report.Problems(),
                report.Problems() == 1 ? "" : "s");
  } else {
    std::printf("%zu problem%s, %zu left\n", report.Problems(), report.Problems() == 1 ? "" : "s",
                report.Left());
  }
}

json::object ToJson(const objects::Finding& finding) {
  json::object out{{"Kind", Name(finding.kind)},
                   {"Harmless", IsHarmless(finding.kind)},
                   {"Detail", finding.detail},
                   {"Repair", finding.repair}};
  if (!finding.path.empty()) out["Path"] = finding.path;
  const objects::RowName& row = finding.row;
  if (row.table == objects::RowName::Table::kNone) return out;
  out["Bucket"] = row.bucket;
  if (IsUtf8(row.key)) {
    out["Key"] = row.key;
  } else {
    out["KeyHex"] = HexEncode(row.key);
  }
  if (row.table == objects::RowName::Table::kParts) {
    out["UploadId"] = row.upload_id;
    out["PartNumber"] = row.part;
  } else {
    out["VersionId"] = row.version_id.empty() ? "null" : row.version_id;
  }
  return out;
}

json::object ToJson(const objects::FsckReport& report) {
  json::array findings;
  for (const objects::Finding& finding : report.findings) findings.push_back(ToJson(finding));
  return {{"Objects", report.objects},
          {"OlderVersions", report.versions},
          {"Parts", report.parts},
          {"BytesRead", report.bytes},
          {"Files", report.files},
          {"FilesWaitingForRemoval", report.waiting},
          {"Problems", report.Problems()},
          {"ProblemsLeft", report.Left()},
          {"LostAndFound", report.lost_and_found},
          {"Findings", std::move(findings)}};
}

Result<objects::FsckReport> Check(const store::Paths& paths, const FsckArguments& arguments) {
  env::PosixFiles files;
  env::PosixClock clock;
  env::PosixRandom random;
  auto lock = store::Home::LockForCheck(paths, files);
  if (!lock && lock.error().code == ErrorCode::kUnavailable) {
    return Fail(ErrorCode::kConflict,
                "{}: stop it first (SIGTERM; jobs go on and the next daemon adopts them), check, "
                "and start it again",
                lock.error().message);
  }
  if (!lock) return tl::make_unexpected(lock.error());
  ASSIGN_OR_RETURN(const store::Account account, store::Home::ReadAccount(paths, files));
  objects::KeyRing keys({objects::KeyDirectory(paths), account.id, account.region}, files, clock,
                        random);
  ProgressLine progress(arguments.quiet);
  return objects::Fsck({.paths = paths,
                        .keys = keys,
                        .repair = arguments.repair,
                        .contents = !arguments.quick,
                        .threads = std::max(1U, std::thread::hardware_concurrency()),
                        .progress = &progress.numbers()},
                       clock, random);
}

int Run(const Invocation& invocation, const FsckArguments& arguments) {
  const auto report = Check(invocation.paths(), arguments);
  if (!report) return Complain(report.error());
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(ToJson(*report)).c_str());
  } else {
    Print(*report, arguments);
  }
  if (report->Problems() == 0) return kExitDone;
  return report->Left() == 0 ? kExitRepaired : kExitProblems;
}

}  // namespace

void AddFsckCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "fsck", "Check every stored object against its checksums, and the index against the disk");
  auto arguments = std::make_shared<FsckArguments>();
  command->add_flag("--repair", arguments->repair,
                    "Put right what can be; what leaves its place is kept in lost+found");
  command->add_flag("--quick", arguments->quick, "Compare sizes only, read no contents");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->add_flag("--quiet", arguments->quiet, "No progress on stderr");
  command->footer(
      "No daemon may run on the home meanwhile. Exit codes: 0 nothing is wrong, 1 it could not be "
      "checked, 2 wrong usage, 4 problems are left, 5 there were problems and all are repaired.");
  command->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
