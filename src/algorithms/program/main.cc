// The built-in XGBoost by itself: xgboost_program ROOT COMMAND [ARGUMENT...].
#include <string>
#include <vector>

#include "algorithms/xgboost.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  sabia::env::PosixClock clock;
  sabia::env::PosixFiles files;
  const std::vector<std::string> args(argv + 2, argv + argc);
  return sabia::algorithms::RunXgboost(args, {.clock = clock, .files = files, .root = argv[1]});
}
