// Reads freed memory, or races, as the argument names the sanitizer; a sanitized build ends with an
// error.
#include <cstring>
#include <memory>
#include <thread>

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "thread") == 0) {
    int shared = 0;
    std::thread other([&shared] { ++shared; });
    ++shared;
    other.join();
    return 0;
  }
  auto freed = std::make_unique<int>(1);
  volatile int* const dangling = freed.get();
  freed.reset();
  return *dangling == 2 ? 1 : 0;
}
