// How code that waits (for the disk, the network, another thread) lets the thread pool it runs on
// know, so that the pool can put another thread to work meanwhile.
//
// A pool sets an observer for each of its threads; on other threads a scope does nothing. Scopes
// nest: the outermost one counts. Threading: everything here is about the calling thread only.
#pragma once

namespace sabia::env {

class BlockingObserver {
 public:
  virtual void BlockingBegins() = 0;
  virtual void BlockingEnds() = 0;

 protected:
  ~BlockingObserver() = default;
};

// For the calling thread; nullptr: nobody. REQUIRES: no scope is open, and the observer outlives
// the thread or is taken back.
void SetBlockingObserver(BlockingObserver* observer);

class BlockingScope {
 public:
  BlockingScope();
  ~BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;
};

}  // namespace sabia::env
