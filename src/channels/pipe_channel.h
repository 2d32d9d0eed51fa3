// A channel in Pipe mode: FIFOs <name>_0, <name>_1, … in a directory, one per epoch, each giving
// the channel's data once to whoever reads it.
//
// The FIFO of epoch n+1 appears when a reader opens that of epoch n; an epoch's FIFO goes when its
// data is written or its reader has closed it. A reader may stop early, sleep for hours, read the
// next epoch while it holds the one before, or never come. There is no timeout and no end to the
// epochs. At most kEpochsAtOnce are given at a time: the next FIFO appears when one of them ends.
//
// An object that cannot be read ends the channel: its reader is left waiting rather than being
// shown an end that is none, failure() says why, and `news` tells the owner to look.
//
// Memory: a MiB of pipe and kGatherBytes per epoch under way, whatever the size of the data, and
// 8 bytes per object listed so far (12 with a seed). Crash: a process that dies leaves FIFOs that
// nobody writes to.
//
// Threading: Open, Start, Stop and the destructor on one thread; the rest is thread-safe. A thread
// of its own per epoch under way, and one that waits for the next.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "channels/epoch_order.h"
#include "channels/fifo.h"
#include "channels/pipe_feed.h"
#include "env/clock.h"

namespace sabia::channels {

inline constexpr int kEpochsAtOnce = 4;

struct PipeChannelOptions {
  std::string name;     // a plain name
  env::Path directory;  // exists; where the FIFOs appear
  PipeItemsOptions items;
  PipeFormat format;
  std::optional<std::uint64_t> shuffle_seed;
  Share share;
};

class PipeChannel {
 public:
  // Reads the beginning of the listing and makes the first FIFO. news: an eventfd. All outlive the
  // channel.
  static Result<std::unique_ptr<PipeChannel>> Open(PipeChannelOptions options, ObjectReader& reader,
                                                   env::Clock& clock, int news);
  ~PipeChannel();  // Stop

  void Start();
  // After the program has ended. Waits for the threads: not long, when the reader was cancelled.
  void Stop();

  const std::string& name() const { return options_.name; }
  bool remote() const { return items_->remote(); }
  PipeStats stats() const { return meter_.Read(clock_.Mono()); }
  std::optional<Error> failure() const;

 private:
  struct Epoch {
    Epoch(Fifo made, std::uint64_t which) : fifo(std::move(made)), number(which) {}
    Fifo fifo;
    const std::uint64_t number;
    std::thread thread;
    bool over = false;
  };

  PipeChannel(PipeChannelOptions options, env::Clock& clock, int news)
      : options_(std::move(options)), clock_(clock), news_(news) {}
  // REQUIRES of the first four: mutex_ held, or no thread yet.
  Status MakeEpoch();
  void Begin(Epoch& epoch);
  void MakeNext();  // when it is due
  void Break(Error error);
  // An epoch's thread.
  void Run(Epoch& epoch);
  Flow Serve(const Epoch& epoch, PipeSink& sink, PipeMeter::Epoch& account);
  Result<Flow> Feed(const Epoch& epoch, PipeSink& sink, PipeMeter::Epoch& account);
  Result<EpochOrder> OrderOf(const Epoch& epoch);

  const PipeChannelOptions options_;
  env::Clock& clock_;
  const int news_;
  env::UniqueFd directory_;
  env::UniqueFd stop_;  // eventfd
  std::unique_ptr<PipeItems> items_;
  PipeMeter meter_;

  mutable std::mutex mutex_;
  std::list<Epoch> epochs_;  // the last is the newest, and waits for its reader as a rule
  std::uint64_t next_number_ = 0;
  int open_ = 0;           // epochs with a reader
  bool next_due_ = false;  // the newest FIFO was opened, and the next not made yet
  bool stopping_ = false;
  std::optional<Error> failure_;
};

}  // namespace sabia::channels
