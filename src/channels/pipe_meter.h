// Who waited for whom: the account of a Pipe channel over all its epochs.
//
// An epoch is at any moment in one state, and the time it spends there is counted. "Starved" is
// when the pipe stands empty and we have nothing to put into it: a program that reads waits for us.
// When the pipe ran empty while we were fetching, half of that time counts: when exactly it did is
// not to be seen from outside. "Blocked" is when the pipe stands full: we wait for the program.
//
// Threading: thread-safe. Time: monotonic, given by the caller.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>

#include "base/time.h"

namespace sabia::channels {

struct PipeStats {
  std::uint64_t bytes = 0;               // that went into pipes
  std::uint64_t objects = 0;             // begun; lines of an augmented manifest count as one
  std::uint64_t opened = 0;              // epochs that a reader opened
  std::uint64_t delivered = 0;           // … and that were given to the end
  std::uint64_t cut = 0;                 // … and that the reader closed early
  std::chrono::nanoseconds unopened{0};  // the next epoch stood ready, and none was being read
  std::chrono::nanoseconds starved{0};
  std::chrono::nanoseconds blocked{0};
  std::chrono::nanoseconds moving{0};  // copying, fetching with data still in the pipe

  // While an epoch was open.
  std::chrono::nanoseconds served() const { return starved + blocked + moving; }
};

class PipeMeter {
 public:
  enum class State { kUnopened, kMoving, kStarved, kBlocked };

  // One epoch's account. Thread-compatible; the meter outlives it.
  class Epoch {
   public:
    Epoch(PipeMeter& meter, MonoTime now);
    ~Epoch();
    Epoch(const Epoch&) = delete;
    Epoch& operator=(const Epoch&) = delete;

    // Opened by a reader.
    void Open(MonoTime now);
    void Enter(State state, MonoTime now);
    // The pipe ran empty since the last Enter: half of that time counts as starved.
    void RanEmpty(MonoTime now);
    void AddBytes(std::uint64_t bytes);
    void AddObject();
    enum class End { kDelivered, kCut, kUnknown };
    void Close(End end, MonoTime now);  // REQUIRES: Open

   private:
    friend class PipeMeter;
    // REQUIRES of both: the meter's mutex held.
    void Settle(MonoTime now);
    bool Counts() const;

    PipeMeter& meter_;
    State state_ = State::kUnopened;
    MonoTime since_;
    bool closed_ = false;
    std::list<Epoch*>::iterator place_;
  };

  PipeStats Read(MonoTime now) const;

 private:
  static std::chrono::nanoseconds& TimeOf(PipeStats& stats, State state);

  mutable std::mutex mutex_;
  PipeStats done_;
  std::list<Epoch*> live_;
  int open_ = 0;  // epochs with a reader
};

}  // namespace sabia::channels
