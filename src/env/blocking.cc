#include "env/blocking.h"

namespace sabia::env {
namespace {

thread_local BlockingObserver* observer_of_thread = nullptr;
thread_local int open_scopes = 0;

}  // namespace

void SetBlockingObserver(BlockingObserver* observer) { observer_of_thread = observer; }

BlockingScope::BlockingScope() {
  if (open_scopes++ == 0 && observer_of_thread != nullptr) observer_of_thread->BlockingBegins();
}

BlockingScope::~BlockingScope() {
  if (--open_scopes == 0 && observer_of_thread != nullptr) observer_of_thread->BlockingEnds();
}

}  // namespace sabia::env
