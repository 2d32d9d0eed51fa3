// Goal: programs see a plain read-only file system, whatever they try and whatever dies.
// Method: a real mount in a mount namespace of its own, in a child; skipped without FUSE.
#include "fastfile/fuse_mount.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <functional>
#include <thread>

#include "channels/mounts.h"
#include "env/testing/temporary_directory.h"
#include "fastfile/testing/remote_files.h"

namespace sabia::fastfile {
namespace {

bool HaveFuse() {
  const int fd = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

#define SKIP_WITHOUT_FUSE() \
  if (!HaveFuse()) GTEST_SKIP() << "needs /dev/fuse"

// In a child with mounts of its own: a thread that made the mounts would see them alone.
void InNamespace(const std::function<void()>& test) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    const Status entered = channels::EnterMountNamespace();
    EXPECT_TRUE(entered) << entered.error().message;
    if (entered) test();
    ::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0) << "see above";
}

class Mounted {
 public:
  explicit Mounted(std::map<std::string, std::string> files, const EngineOptions& options = {})
      : remote(std::move(files)), engine(remote.Start(options)) {
    auto mounted = FuseMount::Mount(remote.tree, engine, directory.path());
    CHECK_MSG(mounted.has_value(), mounted.error().message);
    mount = std::move(*mounted);
  }
  ~Mounted() {
    engine.Stop();
    mount.reset();
  }
  std::string Path(const std::string& name) const {
    return (directory.path() / "train" / name).native();
  }

  env::TemporaryDirectory directory;
  RemoteFiles remote;
  PrefetchEngine& engine;
  std::unique_ptr<FuseMount> mount;
};

TEST(FuseMount, FUSE_FilesLookLikeFiles) {
  SKIP_WITHOUT_FUSE();
  InNamespace([] {
    const std::string big = wire::Noise(9'000'001);
    Mounted here(Files{{"a/b", "hello"}, {"a/big", big}, {"empty", ""}});
    EXPECT_EQ(wire::Content(here.Path("a/b")), "hello");
    EXPECT_EQ(wire::Content(here.Path("empty")), "");
    EXPECT_TRUE(wire::Content(here.Path("a/big")) == big);
    struct stat info {};
    ASSERT_EQ(::stat(here.Path("a/big").c_str(), &info), 0);
    EXPECT_EQ(info.st_size, 9'000'001);
    EXPECT_EQ(info.st_mtime, 1'600'000'000);
    EXPECT_EQ(info.st_mode, S_IFREG | 0444u);
    ASSERT_EQ(::stat(here.Path("a").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode, S_IFDIR | 0555u);
    EXPECT_EQ(::stat(here.Path("none").c_str(), &info), -1);
    EXPECT_EQ(errno, ENOENT);
    struct statvfs disk {};
    ASSERT_EQ(::statvfs(here.Path("a").c_str(), &disk), 0);
    EXPECT_EQ(disk.f_bfree, 0u);
    EXPECT_GE(disk.f_blocks * disk.f_frsize, 9'000'006u);
    EXPECT_NE(disk.f_flag & ST_RDONLY, 0u);
    char value[8];
    EXPECT_EQ(::getxattr(here.Path("a/b").c_str(), "user.x", value, sizeof value), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
    // Mapped, and from the end.
    const int fd = ::open(here.Path("a/big").c_str(), O_RDONLY);
    auto* mapped =
        static_cast<const char*>(::mmap(nullptr, big.size(), PROT_READ, MAP_SHARED, fd, 0));
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_EQ(mapped[9'000'000], big[9'000'000]);
    EXPECT_TRUE(std::string_view(mapped, big.size()) == big);
    EXPECT_EQ(::lseek(fd, 0, SEEK_HOLE), 9'000'001);
    ::munmap(const_cast<char*>(mapped), big.size());
    ::close(fd);
  });
}

TEST(FuseMount, FUSE_NothingCanBeWritten) {
  SKIP_WITHOUT_FUSE();
  InNamespace([] {
    Mounted here(Files{{"d/a", "hello"}});
    const std::string a = here.Path("d/a");
    const std::string b = here.Path("d/b");
    const auto refused = [](long result) { return result == -1 && errno == EROFS; };
    EXPECT_TRUE(refused(::open(a.c_str(), O_WRONLY)));
    EXPECT_TRUE(refused(::open(a.c_str(), O_RDWR)));
    EXPECT_TRUE(refused(::open(a.c_str(), O_WRONLY | O_TRUNC)));
    EXPECT_TRUE(refused(::open(b.c_str(), O_WRONLY | O_CREAT, 0644)));
    EXPECT_TRUE(refused(::open(here.Path("d").c_str(), O_WRONLY | O_TMPFILE, 0644)));
    EXPECT_TRUE(refused(::truncate(a.c_str(), 0)));
    EXPECT_TRUE(refused(::unlink(a.c_str())));
    EXPECT_TRUE(refused(::rename(a.c_str(), b.c_str())));
    EXPECT_TRUE(refused(::link(a.c_str(), b.c_str())));
    EXPECT_TRUE(refused(::symlink("x", b.c_str())));
    EXPECT_TRUE(refused(::mkdir(b.c_str(), 0755)));
    EXPECT_TRUE(refused(::rmdir(here.Path("d").c_str())));
    EXPECT_TRUE(refused(::mknod(b.c_str(), S_IFIFO | 0644, 0)));
    EXPECT_TRUE(refused(::chmod(a.c_str(), 0777)));
    EXPECT_TRUE(refused(::chown(a.c_str(), 0, 0)));
    EXPECT_TRUE(refused(::utime(a.c_str(), nullptr)));
    EXPECT_TRUE(refused(::setxattr(a.c_str(), "user.x", "1", 1, 0)));
    EXPECT_TRUE(refused(::removexattr(a.c_str(), "user.x")));
    EXPECT_TRUE(refused(::access(a.c_str(), W_OK)));
    EXPECT_EQ(wire::Content(a), "hello");
  });
}

std::size_t CountEntries(const std::string& path) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return 0;
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(directory)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(directory);
  return count;
}

// The kernel's readahead, its page cache and direct reads in between.
void ReadAround(Mounted& here, std::uint64_t seed) {
  env::SeededRandom random(seed);
  std::string buffer(1 << 20, '\0');
  for (int round = 0; round < 25; ++round) {
    const auto file = static_cast<std::uint32_t>(random.Below(here.remote.tree.files()));
    const std::string& content = here.remote.content(file);
    const bool direct = random.Below(3) == 0;
    const int fd = ::open(here.Path(here.remote.name(file)).c_str(),
                          O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
    ASSERT_GE(fd, 0);
    std::uint64_t at = random.Below(content.size() + 1);
    for (int reads = 0; reads < 20; ++reads) {
      const std::uint64_t size = 1 + random.Below(buffer.size());
      const ssize_t n = ::pread(fd, buffer.data(), size, static_cast<off_t>(at));
      ASSERT_GE(n, 0) << ::strerror(errno);
      ASSERT_TRUE(std::string_view(buffer).substr(0, static_cast<std::size_t>(n)) ==
                  std::string_view(content).substr(at, size))
          << here.remote.name(file) << " at " << at << ", " << size << ": " << n;
      at = random.Below(3) != 0 ? std::min<std::uint64_t>(at + size, content.size())
                                : random.Below(content.size() + 1);
    }
    if (random.Below(2) == 0) ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

TEST(FuseMount, FUSE_EveryByteIsRightForManyReadersAndFaults) {
  SKIP_WITHOUT_FUSE();
  InNamespace([] {
    std::map<std::string, std::string> files;
    for (int i = 0; i < 30; ++i)
      files["s" + std::to_string(i)] = wire::Noise(static_cast<std::size_t>(i) * 20'011, i);
    for (int i = 0; i < 3; ++i)
      files["l" + std::to_string(i)] =
          wire::Noise(static_cast<std::size_t>(i + 1) * 4'000'000 + 3, 50 + i);
    EngineOptions options;
    options.memory = 16 << 20;
    options.connections = 8;
    Mounted here(files, options);
    here.remote.server.s3.faults = {.answer_500 = 5, .slow_down = 5, .cut_get_after = 30};
    std::atomic<bool> over{false};
    std::thread lists([&] {
      while (!over) EXPECT_EQ(CountEntries(here.Path("")), 33u);
    });
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 6; ++i) threads.emplace_back([&, i] { ReadAround(here, i); });
    for (std::thread& thread : threads) thread.join();
    over = true;
    lists.join();
    EXPECT_FALSE(here.engine.failure());
  });
}

TEST(FuseMount, FUSE_AReadThatWaitsEndsWithItsProcess) {
  SKIP_WITHOUT_FUSE();
  InNamespace([] {
    Mounted here(Files{{"a", wire::Noise(5 << 20)}});
    here.remote.server.s3.faults.slow_down = 1'000'000;
    const std::string path = here.Path("a");
    for (const int flags : {O_RDONLY, O_RDONLY | O_DIRECT}) {
      const std::uint64_t before = here.engine.stats(0).reads;
      const pid_t reader = ::fork();
      if (reader == 0) {
        ::close_range(3, ~0U,
                      0);  // the device among them: its last descriptor must be the server's
        char byte = 0;
        const int fd = ::open(path.c_str(), flags);
        ::_exit(::pread(fd, &byte, 1, 0) == 1 ? 0 : 1);
      }
      while (here.engine.stats(0).reads == before) ::poll(nullptr, 0, 2);
      ::kill(reader, SIGKILL);
      int status = 0;
      ASSERT_EQ(::waitpid(reader, &status, 0), reader);
      EXPECT_TRUE(WIFSIGNALED(status));
    }
    here.remote.server.s3.faults.slow_down = 0;
  });
}

TEST(FuseMount, FUSE_NothingHangsWhenTheServerIsKilled) {
  SKIP_WITHOUT_FUSE();
  InNamespace([] {
    env::TemporaryDirectory directory;
    int ready[2];
    int away[2];
    ASSERT_EQ(::pipe(ready) | ::pipe(away), 0);
    const pid_t server = ::fork();
    if (server == 0) {
      RemoteFiles remote(Files{{"a", wire::Noise(5 << 20)}, {"b", "hello"}});
      PrefetchEngine& engine = remote.Start({});
      const auto mount = FuseMount::Mount(remote.tree, engine, directory.path());
      CHECK(mount);
      CHECK(::write(ready[1], "x", 1) == 1);
      char word = 0;
      CHECK(::read(away[0], &word, 1) == 1);
      remote.server.s3.faults.slow_down = 1'000'000;
      CHECK(::write(ready[1], "x", 1) == 1);
      while (true) ::poll(nullptr, 0, -1);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(wire::Content(directory.path() / "train/b"), "hello");
    ASSERT_EQ(::write(away[1], "x", 1), 1);
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    const int fd = ::open((directory.path() / "train/a").c_str(), O_RDONLY);
    ASSERT_GE(fd, 0);
    std::thread killer([&] {
      ::poll(nullptr, 0, 200);
      ::kill(server, SIGKILL);
    });
    std::string buffer(1 << 20, '\0');
    EXPECT_EQ(::pread(fd, buffer.data(), buffer.size(), 1 << 20), -1);
    EXPECT_TRUE(errno == ECONNABORTED || errno == ENOTCONN || errno == EIO) << errno;
    killer.join();
    ASSERT_EQ(::waitpid(server, nullptr, 0), server);
    EXPECT_EQ(::open((directory.path() / "train/a").c_str(), O_RDONLY), -1);
    EXPECT_EQ(errno, ENOTCONN);
    ::close(fd);
    EXPECT_TRUE(channels::Unmount(directory.path()));
    EXPECT_EQ(CountEntries(directory.path()), 0u);
  });
}

TEST(FuseMount, FUSE_AHundredThousandFilesAreListed) {
  SKIP_WITHOUT_FUSE();
  InNamespace([] {
    std::map<std::string, std::string> files;
    for (int i = 0; i < 100'000; ++i) files["f" + std::to_string(i)] = "";
    Mounted here(files);
    EXPECT_EQ(CountEntries(here.Path("")), 100'000u);
    EXPECT_EQ(CountEntries(here.Path("")), 100'000u);
    EXPECT_EQ(here.engine.stats(0).requests, 0u);
  });
}

}  // namespace
}  // namespace sabia::fastfile
