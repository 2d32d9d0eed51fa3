#include "control/posix/wake_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/time.h"
#include "env/testing/temporary_directory.h"

namespace sabia::control {
namespace {

class Heard {
 public:
  WakeSocket::Listener Listener() {
    return [this](const std::string& id) {
      const std::lock_guard lock(mutex_);
      ids_.push_back(id);
      arrived_.notify_one();
    };
  }
  std::vector<std::string> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, Seconds(20), [&] { return ids_.size() >= count; });
    return ids_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::string> ids_;
};

// Through a descriptor of the directory, as agents do when the path is long.
void Send(const env::Path& path, std::string_view text) {
  const auto parent = env::OpenFile(path.parent_path(), O_PATH | O_DIRECTORY);
  ASSERT_TRUE(parent);
  const env::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", parent->get(),
                path.filename().c_str());
  ASSERT_EQ(::sendto(socket.get(), text.data(), text.size(), 0,
                     reinterpret_cast<const sockaddr*>(&address), sizeof address),
            static_cast<ssize_t>(text.size()));
}

TEST(WakeSocket, HearsEveryDatagram) {
  env::TemporaryDirectory home;
  Heard heard;
  const env::Path path = home.path() / "wake.sock";
  const auto wake = WakeSocket::Open(path, heard.Listener());
  ASSERT_TRUE(wake) << wake.error().message;
  Send(path, "0123456789ab-1-1");
  Send(path, "0123456789ab-1-2");
  EXPECT_EQ(heard.Await(2), (std::vector<std::string>{"0123456789ab-1-1", "0123456789ab-1-2"}));
}

TEST(WakeSocket, WorksBelowALongPathAndOverAnOldSocket) {
  env::TemporaryDirectory home;
  const env::Path deep = home.path() / std::string(120, 'd');
  std::filesystem::create_directories(deep);
  Heard heard;
  for (int i = 0; i < 2; ++i) {
    const auto wake = WakeSocket::Open(deep / "wake.sock", heard.Listener());
    ASSERT_TRUE(wake) << wake.error().message;
    Send(deep / "wake.sock", "x");
    EXPECT_EQ(heard.Await(static_cast<std::size_t>(i) + 1).size(), static_cast<std::size_t>(i) + 1);
  }
}

TEST(WakeSocket, CutsWhatIsTooLongForAnId) {
  env::TemporaryDirectory home;
  Heard heard;
  const auto wake = WakeSocket::Open(home.path() / "wake.sock", heard.Listener());
  ASSERT_TRUE(wake);
  Send(home.path() / "wake.sock", std::string(10'000, 'x'));
  EXPECT_EQ(heard.Await(1)[0].size(), 64u);
}

TEST(WakeSocket, FailsWithoutItsDirectory) {
  const auto wake = WakeSocket::Open("/nonexistent/run/wake.sock", [](const std::string&) {});
  ASSERT_FALSE(wake);
  EXPECT_EQ(wake.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sabia::control
