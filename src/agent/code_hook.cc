#include <fcntl.h>
#include <sys/stat.h>

#include "agent/environment.h"
#include "agent/hook.h"
#include "agent/script_mode.h"
#include "channels/archive.h"
#include "channels/listing.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

namespace fs = std::filesystem;

bool IsFile(const Path& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec);
}

// Decides what runs; in script mode fetches it first.
class CodeHook final : public Hook {
 public:
  std::string_view name() const override { return "code"; }

  bool quick(const model::InstanceSpec& spec) const override {
    return spec.image != model::ImageKind::kPython;
  }

  bool IsUsersFault(ErrorCode code) const override {
    return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound ||
           code == ErrorCode::kDenied;
  }

  Status Prepare(Instance& instance) override {
    const model::InstanceSpec& spec = instance.spec;
    switch (spec.image) {
      case model::ImageKind::kEntrypoint:
        instance.command = spec.entrypoint;
        instance.command.insert(instance.command.end(), spec.arguments.begin(),
                                spec.arguments.end());
        if (instance.command.empty())
          return Fail(ErrorCode::kInvalidArgument, "ContainerEntrypoint is empty");
        return {};
      case model::ImageKind::kXgboost:
        instance.command = {std::string(kSandboxBin) + "/sabia", "algorithm", "xgboost"};
        if (spec.arguments.empty()) instance.command.push_back("train");
        instance.command.insert(instance.command.end(), spec.arguments.begin(),
                                spec.arguments.end());
        return {};
      case model::ImageKind::kPython:
        break;
    }
    RETURN_IF_ERROR(FetchCode(instance));
    const Path code = instance.layout.code();
    const std::string program = UserProgram(spec);
    if (!program.empty() && !channels::IsSafeRelativePath(program)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "sagemaker_program '{}' must be a relative path that stays in the source",
                  program);
    }
    const CodeFacts facts{IsFile(code / "requirements.txt"), IsFile(code / "setup.py"),
                          !program.empty() && IsFile(code / program)};
    ASSIGN_OR_RETURN(instance.user_command, UserCommand(spec, facts));
    ASSIGN_OR_RETURN(instance.command, ScriptCommand(spec, facts));
    return {};
  }

  void Cleanup(Instance&) override {}  // the archive lies in scratch, the code in /opt/ml

 private:
  static Status FetchCode(Instance& instance) {
    const std::string from = SubmitDirectory(instance.spec);
    if (from.empty()) return {};
    if (from.starts_with("s3://") || from.starts_with("https://"))
      return FetchFromS3(instance, from);
    const std::string prefix = std::string(kOptMl) + "/";
    if (!from.starts_with(prefix) || !channels::IsSafeRelativePath(from.substr(prefix.size()))) {
      return Fail(ErrorCode::kInvalidArgument,
                  "sagemaker_submit_directory '{}' is neither an S3 URI nor a path below /opt/ml",
                  from);
    }
    std::error_code ec;
    fs::copy(instance.layout.root() / from.substr(prefix.size()), instance.layout.code(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks, ec);
    if (ec) return FailErrno(ec.value(), "failed to copy the code from '{}'", from);
    return {};
  }

  static Status FetchFromS3(Instance& instance, const std::string& uri) {
    ASSIGN_OR_RETURN(const wire::S3Location from, wire::ParseS3Uri(uri));
    ASSIGN_OR_RETURN(const auto client, instance.connect(instance.spec, kPatience));
    const Path archive = instance.layout.source_archive();
    const Status got = client->Download(from, archive);
    if (got) {
      Status unpacked = channels::UnpackArchive(archive, instance.layout.code(), {});
      if (!unpacked) {
        return Wrap(std::move(unpacked).error(),
                    fmt::format("failed to unpack the source '{}'", uri));
      }
      return {};
    }
    if (got.error().code != ErrorCode::kNotFound) {
      return Wrap(Error(got.error()), fmt::format("failed to download the source '{}'", uri));
    }
    return FetchPrefix(instance, *client, from, uri);
  }

  // Plain files below a prefix.
  static Status FetchPrefix(Instance& instance, wire::S3Client& client,
                            const wire::S3Location& from, const std::string& uri) {
    const std::string prefix =
        from.key.empty() || from.key.ends_with('/') ? from.key : from.key + "/";
    ASSIGN_OR_RETURN(const std::vector<wire::S3Object> objects, client.List(from.bucket, prefix));
    if (objects.empty()) return Fail(ErrorCode::kNotFound, "no source at '{}'", uri);
    for (const wire::S3Object& object : objects) {
      const std::string path = object.key.substr(prefix.size());
      if (path.empty() || path.ends_with('/')) continue;
      if (!channels::IsSafeRelativePath(path)) {
        return Fail(ErrorCode::kInvalidArgument, "key '{}' of the source is no safe path",
                    object.key);
      }
      RETURN_IF_ERROR(channels::MakeParents(instance.layout.code(), path));
      RETURN_IF_ERROR(client.Download({from.bucket, object.key}, instance.layout.code() / path));
    }
    return {};
  }

  static constexpr Millis kPatience{300'000};
};

}  // namespace

std::unique_ptr<Hook> MakeCodeHook() { return std::make_unique<CodeHook>(); }

}  // namespace sabia::agent
