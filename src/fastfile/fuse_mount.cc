#include "fastfile/fuse_mount.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "fastfile/fuse_operations.h"

namespace sabia::fastfile {
namespace {

constexpr std::size_t kThreads = 4;
constexpr unsigned kReadMax = 1 << 20;

}  // namespace

Result<std::unique_ptr<FuseMount>> FuseMount::Mount(const FileTree& tree, PrefetchEngine& engine,
                                                    const env::Path& target) {
  std::unique_ptr<FuseMount> mount(new FuseMount(tree, engine, target));
  RETURN_IF_ERROR(mount->Open());
  return mount;
}

Status FuseMount::Open() {
  const auto refuse = [](std::string_view what, int error) {
    return Fail(ErrorCode::kUnimplemented, "{}: {}", what, ::strerrordesc_np(error));
  };
  // Not blocking, so that no thread sleeps where Stop cannot reach it.
  env::UniqueFd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!device) return refuse("failed to open /dev/fuse", errno);
  stop_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // Programs run as a user of the sandbox, which is not the one that mounts.
  const std::string options = fmt::format(
      "fd={},rootmode=40000,user_id={},group_id={},allow_other,default_permissions,"
      "max_read={}",
      device.get(), ::getuid(), ::getgid(), kReadMax);
  if (::mount("sabia", target_.c_str(), "fuse.sabia", MS_RDONLY | MS_NODEV | MS_NOSUID,
              options.c_str()) != 0)
    return refuse("failed to mount a file system in user space", errno);
  mounted_ = true;
  char name[] = "sabia";
  char* arguments[] = {name, nullptr};
  fuse_args args = FUSE_ARGS_INIT(1, arguments);
  session_ = ::fuse_session_new(&args, &FuseOperations(), sizeof(fuse_lowlevel_ops), this);
  if (session_ == nullptr) return Fail(ErrorCode::kUnimplemented, "failed to make a FUSE session");
  const std::string inherited = fmt::format("/dev/fd/{}", device.get());
  if (::fuse_session_mount(session_, inherited.c_str()) != 0)
    return Fail(ErrorCode::kUnimplemented, "failed to take over a FUSE device");
  (void)device.Release();  // the session's now
  for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Serve(); });
  return {};
}

FuseMount::~FuseMount() { Stop(); }

void FuseMount::Stop() {
  if (mounted_) ::umount2(target_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  mounted_ = false;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  // Closes the device: what is still open of the mount, anywhere, gets errors from here on.
  if (session_ != nullptr) ::fuse_session_destroy(session_);
  session_ = nullptr;
}

void FuseMount::Serve() {
  fuse_buf buffer{};
  // Exclusive: a request wakes one thread, not all.
  const env::UniqueFd events(::epoll_create1(EPOLL_CLOEXEC));
  const int device = ::fuse_session_fd(session_);
  epoll_event request{.events = EPOLLIN | EPOLLEXCLUSIVE, .data = {.fd = device}};
  epoll_event stop{.events = EPOLLIN, .data = {.fd = stop_.get()}};
  CHECK(::epoll_ctl(events.get(), EPOLL_CTL_ADD, device, &request) == 0);
  CHECK(::epoll_ctl(events.get(), EPOLL_CTL_ADD, stop_.get(), &stop) == 0);
  while (::fuse_session_exited(session_) == 0) {
    const int n = ::fuse_session_receive_buf(session_, &buffer);
    if (n > 0) {
      ::fuse_session_process_buf(session_, &buffer);
      continue;
    }
    if (n == 0 || (n != -EAGAIN && n != -EINTR)) break;
    epoll_event seen{};
    if (::epoll_wait(events.get(), &seen, 1, -1) == 1 && seen.data.fd == stop_.get()) break;
  }
  std::free(buffer.mem);
}

}  // namespace sabia::fastfile
