#include "agent/link.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "agent/text.h"
#include "env/posix/empty_file.h"

namespace sabia::agent {
namespace {

constexpr std::size_t kSpecMax = 64 << 20;
constexpr std::size_t kOrdersMax = 1 << 20;

struct Address {
  sockaddr_un value{};
  env::UniqueFd directory;  // keeps the short name of a long path alive
};

// Paths of sockets are at most 107 bytes, homes may be longer; a descriptor of the directory has a
// short name.
Result<Address> SocketAddress(const Path& path) {
  Address out;
  out.value.sun_family = AF_UNIX;
  std::string name = path.native();
  if (name.size() >= sizeof out.value.sun_path) {
    ASSIGN_OR_RETURN(out.directory, env::OpenFile(path.parent_path(), O_PATH | O_DIRECTORY));
    name = fmt::format("/proc/self/fd/{}/{}", out.directory.get(), path.filename().native());
  }
  if (name.size() >= sizeof out.value.sun_path) {
    return Fail(ErrorCode::kInvalidArgument, "socket path '{}' is too long", path.native());
  }
  std::memcpy(out.value.sun_path, name.c_str(), name.size() + 1);
  return out;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Result<Link> Link::Open(const Layout& layout) {
  ASSIGN_OR_RETURN(env::UniqueFd lock, env::OpenFile(layout.lock(), O_RDWR | O_CREAT, 0600));
  if (!env::LockExclusively(lock.get())) {
    return Fail(ErrorCode::kConflict, "another agent runs in '{}'", layout.directory().native());
  }
  // A program may leave set-user-id files of its (that is, our) user in root/: nobody else may get
  // there.
  if (::chmod(layout.directory().c_str(), 0700) != 0) {
    return FailErrno(errno, "failed to close '{}' to others", layout.directory().native());
  }
  env::PosixFiles files;
  ASSIGN_OR_RETURN(const std::string text, files.Read(layout.spec(), kSpecMax));
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(text));
  ASSIGN_OR_RETURN(model::InstanceSpec spec, model::InstanceSpec::FromJson(document));
  Link out(layout, std::move(spec));
  out.lock_ = std::move(lock);
  RETURN_IF_ERROR(out.Listen());
  return out;
}

namespace {

Result<env::UniqueFd> OpenPipe(const Path& path) {
  // To write as well: without a writer it would count as readable.
  const auto open = [&path] { return env::OpenFile(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW); };
  auto there = open();
  struct stat info {};
  if (there && ::fstat(there->get(), &info) == 0 && S_ISFIFO(info.st_mode)) return there;
  ::unlink(path.c_str());
  if (::mkfifo(path.c_str(), 0600) != 0)
    return FailErrno(errno, "failed to make '{}'", path.native());
  return open();
}

}  // namespace

Status Link::Listen() {
  ASSIGN_OR_RETURN(pokes_, OpenPipe(layout_.poke()));
  socket_.Reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return FailErrno(errno, "failed to make a socket");
  return {};
}

namespace {

constexpr std::size_t kTextBytesMax = 8192;

// File names and output of the program may hold any bytes; JSON holds text only, and a report that
// cannot be read is as good as none.
model::Report AsText(model::Report report) {
  report.error = SafeUtf8(report.error, kTextBytesMax);
  report.failure_file = SafeUtf8(report.failure_file, kTextBytesMax);
  for (std::string& line : report.last_lines) line = SafeUtf8(line, kTextBytesMax);
  for (std::string& note : report.notes) note = SafeUtf8(note, kTextBytesMax);
  return report;
}

}  // namespace

Status Link::Write(const model::Report& report, env::Durability durability) {
  json::object document = AsText(report).ToJson();
  document["instance"] = spec_.id;
  const std::string text = json::serialize(document);
  ASSIGN_OR_RETURN(const bool written, WriteIntoEmptyFile(text, durability));
  ++reports_;
  if (written) return {};
  env::PosixFiles files;
  return files.WriteAtomically(layout_.report(), text, {.mode = 0600, .durability = durability});
}

// A directory that serves again holds two empty files, for the first report and for the second. A
// reader may see the first one in part, which is no document, and so no report yet.
Result<bool> Link::WriteIntoEmptyFile(const std::string& text, env::Durability durability) {
  if (reports_ == 0) return env::FillEmptyFile(layout_.report(), text, durability);
  const Path next = layout_.next_report();
  ASSIGN_OR_RETURN(const bool written, env::FillEmptyFile(next, text, durability));
  if (!written) return false;
  if (::renameat2(AT_FDCWD, next.c_str(), AT_FDCWD, layout_.report().c_str(), RENAME_EXCHANGE) != 0)
    return false;  // not every file system knows how
  if (durability == env::Durability::kDurable)
    RETURN_IF_ERROR(env::SyncDirectory(layout_.directory()));
  return true;
}

Status Link::Write(const model::Report& report) {
  return Write(report, env::Durability::kVolatile);
}

Status Link::Publish(const model::Report& report) {
  RETURN_IF_ERROR(Write(report));
  (void)Poke();
  return {};
}

Status Link::PublishLast(const model::Report& report) {
  RETURN_IF_ERROR(Write(report));
  if (Poke()) return {};
  return Write(report, env::Durability::kDurable);
}

bool Link::Poke() {
  if (spec_.wake_socket.empty()) return false;
  const auto address = SocketAddress(spec_.wake_socket);
  if (!address) return false;
  // Nobody may be listening, or the queue may be full: the daemon looks by itself every second.
  return ::sendto(socket_.get(), spec_.id.data(), spec_.id.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                  Generic(address->value), sizeof address->value) >= 0;
}

void Link::DrainPokes() {
  std::array<char, 64> ignored{};
  while (::read(pokes_.get(), ignored.data(), ignored.size()) > 0) {
  }
}

std::optional<Path> Link::TakeCall() {
  std::array<char, 2 * PIPE_BUF> bytes{};
  const ssize_t n = ::read(pokes_.get(), bytes.data(), bytes.size());
  if (n <= 0) return std::nullopt;
  std::string_view text(bytes.data(), static_cast<std::size_t>(n));
  // Pokes are bytes of zero. Of several calls the last one counts: the others were given up.
  const std::size_t end = text.rfind('\n');
  if (end == text.npos) return std::nullopt;
  text = text.substr(0, end);
  const std::size_t before = text.find_last_of(std::string_view("\0\n", 2));
  if (before != text.npos) text.remove_prefix(before + 1);
  return Path(text);
}

bool Link::Deserted() const {
  struct stat info {};
  return ::fstat(lock_.get(), &info) != 0 || info.st_nlink == 0;
}

std::optional<model::Orders> Link::NewOrders() {
  struct stat info {};
  if (::stat(layout_.orders().c_str(), &info) != 0) return std::nullopt;
  const std::int64_t mtime =
      info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
  if (info.st_ino == orders_inode_ && mtime == orders_mtime_ns_) return std::nullopt;
  env::PosixFiles files;
  const auto text = files.Read(layout_.orders(), kOrdersMax);
  if (!text) return std::nullopt;
  const auto document = ParseJsonObject(*text);
  if (!document) return std::nullopt;
  auto orders = model::Orders::FromJson(*document);
  if (!orders) return std::nullopt;
  orders_inode_ = info.st_ino;
  orders_mtime_ns_ = mtime;
  return *std::move(orders);
}

}  // namespace sabia::agent
