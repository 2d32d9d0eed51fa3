#include "store/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/json.h"

namespace sabia::store {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kSmallFile = 4096;

bool IsAccountId(std::string_view id) {
  return id.size() == 12 &&
         std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsRegion(std::string_view region) {
  return !region.empty() && region.size() <= 32 &&
         std::all_of(region.begin(), region.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

Status CheckPath(const Paths& paths) {
  if (!paths.home().is_absolute()) {
    return Fail(ErrorCode::kInvalidArgument, "the home '{}' is not an absolute path",
                paths.home().native());
  }
  // Sockets live in the home, and their addresses are short.
  constexpr std::size_t kMax = sizeof(sockaddr_un::sun_path) - 1;
  const std::size_t length = paths.wake_socket().native().size();
  if (length <= kMax) return {};
  return Fail(ErrorCode::kInvalidArgument, "the home '{}' is {} bytes too long for a socket in it",
              paths.home().native(), length - kMax);
}

Status MakeDirectory(const env::Path& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return env::SyncDirectory(path.parent_path());
  if (errno != EEXIST) return FailErrno(errno, "failed to create '{}'", path.native());
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  return Fail(ErrorCode::kInvalidArgument, "'{}' is not a directory", path.native());
}

// made: the directories that were not there before, from the top down.
Status MakeHome(const env::Path& home, std::vector<env::Path>& made) {
  std::vector<env::Path> missing;
  std::error_code ignored;
  for (env::Path above = home.parent_path(); !std::filesystem::exists(above, ignored);
       above = above.parent_path()) {
    missing.insert(missing.begin(), above);
  }
  for (const env::Path& path : missing) {
    if (::mkdir(path.c_str(), 0777) == 0) {
      made.push_back(path);
    } else if (errno != EEXIST) {
      return FailErrno(errno, "failed to create '{}'", path.native());
    }
  }
  const bool fresh = ::mkdir(home.c_str(), 0700) == 0;
  if (fresh) made.push_back(home);
  if (!fresh) made.clear();
  return fresh ? env::SyncDirectory(home.parent_path()) : MakeDirectory(home);
}

Result<env::UniqueFd> Lock(const Paths& paths, env::Files& files) {
  ASSIGN_OR_RETURN(env::UniqueFd fd, env::OpenFile(paths.lock(), O_RDWR | O_CREAT, 0600));
  if (const Status locked = env::LockExclusively(fd.get()); !locked) {
    if (locked.error().code != ErrorCode::kConflict) {
      return Wrap(locked.error(), "failed to lock '" + paths.lock().native() + "'");
    }
    const Result<std::string> pid = files.Read(paths.lock(), kSmallFile);
    return Fail(ErrorCode::kUnavailable, "a daemon with pid {} is running in '{}'",
                pid && !pid->empty() ? pid->substr(0, pid->find('\n')) : "unknown",
                paths.home().native());
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return FailErrno(errno, "failed to write '{}'", paths.lock().native());
  }
  return fd;
}

Status CheckFormat(const Paths& paths, env::Files& files) {
  const Result<std::string> text = files.Read(paths.format(), kSmallFile);
  if (!text) {
    if (text.error().code != ErrorCode::kNotFound) return tl::make_unexpected(text.error());
    return files.WriteAtomically(paths.format(), fmt::format("{}\n", kFormat), {.mode = 0600});
  }
  int format = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, format);
  if (error != std::errc() || (rest != end && *rest != '\n') || format < 1) {
    return Fail(ErrorCode::kCorrupt, "'{}' holds no version number", paths.format().native());
  }
  if (format > kFormat) {
    return Fail(ErrorCode::kInvalidArgument,
                "'{}' has format {}, but this program knows formats up to {}: use a newer sabia",
                paths.home().native(), format, kFormat);
  }
  return {};
}

Result<Account> FindOrMakeAccount(const Paths& paths, env::Files& files, env::Random& random,
                                  std::string_view first_region) {
  Result<Account> found = Home::ReadAccount(paths, files);
  if (found || found.error().code != ErrorCode::kNotFound) return found;
  if (!IsRegion(first_region)) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not the name of a region", first_region);
  }
  // No leading zero: some clients read account ids as numbers.
  const std::uint64_t id = 100'000'000'000 + random.Below(900'000'000'000);
  Account account{std::to_string(id), std::string(first_region)};
  const json::object document{{"account", account.id}, {"region", account.region}};
  RETURN_IF_ERROR(
      files.WriteAtomically(paths.account(), json::serialize(document) + "\n", {.mode = 0600}));
  return account;
}

}  // namespace

Result<Account> Home::ReadAccount(const Paths& paths, env::Files& files) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(paths.account(), kSmallFile));
  const Result<json::object> document = ParseJsonObject(text);
  Account account;
  if (document) account = {GetString(*document, "account"), GetString(*document, "region")};
  if (IsAccountId(account.id) && IsRegion(account.region)) return account;
  return Fail(ErrorCode::kCorrupt, "'{}' holds no account of 12 digits and region",
              paths.account().native());
}

Result<env::UniqueFd> Home::LockForCheck(const Paths& paths, env::Files& files) {
  ASSIGN_OR_RETURN(const bool exists, files.Exists(paths.format()));
  if (!exists) {
    return Fail(ErrorCode::kNotFound, "'{}' is not a home of sabia", paths.home().native());
  }
  ASSIGN_OR_RETURN(env::UniqueFd lock, Lock(paths, files));
  RETURN_IF_ERROR(CheckFormat(paths, files));
  return lock;
}

Result<std::unique_ptr<Home>> Home::Open(const Paths& paths, env::Files& files, env::Random& random,
                                         std::string_view first_region) {
  RETURN_IF_ERROR(CheckPath(paths));
  std::vector<env::Path> made;
  RETURN_IF_ERROR(MakeHome(paths.home(), made));
  ASSIGN_OR_RETURN(env::UniqueFd lock, Lock(paths, files));
  std::unique_ptr<Home> home(new Home(paths, std::move(lock)));
  home->made_ = std::move(made);
  const Status filled = home->Fill(files, random, first_region);
  if (filled) return home;
  home->Discard(files);
  return tl::make_unexpected(filled.error());
}

Status Home::Fill(env::Files& files, env::Random& random, std::string_view first_region) {
  RETURN_IF_ERROR(CheckFormat(paths_, files));
  for (const env::Path& directory :
       {paths_.tls(), paths_.aws_models(), paths_.blobs(), paths_.blobs_tmp(), paths_.logs(),
        paths_.instances(), paths_.run()}) {
    RETURN_IF_ERROR(MakeDirectory(directory));
  }
  ASSIGN_OR_RETURN(account_, FindOrMakeAccount(paths_, files, random, first_region));
  return {};
}

void Home::Discard(env::Files& files) {
  if (made_.empty()) return;
  (void)files.RemoveTree(paths_.home());
  made_.pop_back();
  // Only empty ones go: somebody else may have begun to use them.
  for (; !made_.empty() && ::rmdir(made_.back().c_str()) == 0; made_.pop_back()) {
  }
}

}  // namespace sabia::store
