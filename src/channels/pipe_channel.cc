#include "channels/pipe_channel.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "channels/beneath.h"
#include "channels/lookahead.h"

namespace sabia::channels {
namespace {

void Signal(int eventfd) {
  const std::uint64_t one = 1;
  (void)!::write(eventfd, &one, sizeof one);
}

Result<std::optional<PipeItem>> NextItem(Lookahead& ahead, PipeSink& sink) {
  const PipeSink::Fetching fetching(sink);
  return ahead.Next();
}

PipeMeter::Epoch::End EndOf(Flow flow) {
  switch (flow) {
    case Flow::kOpen:
      return PipeMeter::Epoch::End::kDelivered;
    case Flow::kReaderGone:
      return PipeMeter::Epoch::End::kCut;
    case Flow::kStopped:
      break;
  }
  return PipeMeter::Epoch::End::kUnknown;
}

}  // namespace

Result<std::unique_ptr<PipeChannel>> PipeChannel::Open(PipeChannelOptions options,
                                                       ObjectReader& reader, env::Clock& clock,
                                                       int news) {
  std::unique_ptr<PipeChannel> channel(new PipeChannel(std::move(options), clock, news));
  channel->stop_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!channel->stop_) return FailErrno(errno, "failed to make an eventfd");
  ASSIGN_OR_RETURN(channel->directory_, OpenDirectory(channel->options_.directory));
  ASSIGN_OR_RETURN(channel->items_, PipeItems::Open(channel->options_.items, reader));
  RETURN_IF_ERROR(channel->MakeEpoch());
  return channel;
}

PipeChannel::~PipeChannel() { Stop(); }

void PipeChannel::Start() {
  items_->StartKeeping();
  const std::lock_guard lock(mutex_);
  Begin(epochs_.back());
}

void PipeChannel::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    Signal(stop_.get());
    for (Epoch& epoch : epochs_) epoch.fifo.Release();
  }
  // The list stays as it is from here on.
  for (Epoch& epoch : epochs_) {
    if (epoch.thread.joinable()) epoch.thread.join();
  }
  if (items_) items_->StopKeeping();
}

std::optional<Error> PipeChannel::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status PipeChannel::MakeEpoch() {
  ASSIGN_OR_RETURN(Fifo fifo,
                   Fifo::Make(directory_.get(), fmt::format("{}_{}", options_.name, next_number_)));
  epochs_.emplace_back(std::move(fifo), next_number_++);
  return {};
}

void PipeChannel::Begin(Epoch& epoch) {
  epoch.thread = std::thread([this, &epoch] { Run(epoch); });
}

void PipeChannel::MakeNext() {
  if (stopping_ || failure_ || !next_due_ || open_ >= kEpochsAtOnce) return;
  next_due_ = false;
  for (auto epoch = epochs_.begin(); epoch != epochs_.end();) {
    if (!epoch->over || epoch->thread.get_id() == std::this_thread::get_id()) {
      ++epoch;
      continue;
    }
    epoch->thread.join();  // it has nothing left to do
    epoch = epochs_.erase(epoch);
  }
  if (Status made = MakeEpoch(); !made) return Break(std::move(made).error());
  Begin(epochs_.back());
}

void PipeChannel::Break(Error error) {
  if (!failure_) failure_ = std::move(error);
  Signal(news_);
}

void PipeChannel::Run(Epoch& epoch) {
  PipeMeter::Epoch account(meter_, clock_.Mono());
  auto fd = epoch.fifo.AwaitReader();
  {
    const std::lock_guard lock(mutex_);
    account.Enter(PipeMeter::State::kUnopened, clock_.Mono());
    if (stopping_) return;
    if (!fd) return Break(std::move(fd).error());
    ++open_;
    next_due_ = true;
    account.Open(clock_.Mono());
    MakeNext();
  }
  {
    PipeSink sink(std::move(*fd), stop_.get(), account, clock_);
    const auto end = EndOf(Serve(epoch, sink, account));
    account.Close(end, clock_.Mono());
    // Before the end is shown: who opens the name later must not wait for data that never comes.
    epoch.fifo.Remove(directory_.get());
  }
  const std::lock_guard lock(mutex_);
  --open_;
  epoch.over = true;
  MakeNext();
}

Flow PipeChannel::Serve(const Epoch& epoch, PipeSink& sink, PipeMeter::Epoch& account) {
  auto flow = Feed(epoch, sink, account);
  if (flow) return *flow;
  // What nobody reads any more need not be there.
  if (const Flow now = sink.Look(); now != Flow::kOpen) return now;
  {
    const std::lock_guard lock(mutex_);
    Break(std::move(flow).error());
  }
  return sink.Hold();
}

Result<Flow> PipeChannel::Feed(const Epoch& epoch, PipeSink& sink, PipeMeter::Epoch& account) {
  ASSIGN_OR_RETURN(const EpochOrder order, OrderOf(epoch));
  PipeFeed feed(sink, options_.format, options_.items.scratch);
  const auto fetch = [&](std::uint64_t place) -> Result<std::optional<PipeItem>> {
    const auto number = order.At(place);
    if (!number) return std::optional<PipeItem>();
    return items_->Item(*number);
  };
  Lookahead ahead(fetch, items_->remote() ? kAheadThreads : 0);
  while (true) {
    if (!ahead.Ready()) {
      if (const Flow flow = feed.Flush(); flow != Flow::kOpen) return flow;
    }
    ASSIGN_OR_RETURN(std::optional<PipeItem> item, NextItem(ahead, sink));
    if (!item) return feed.Flush();
    if (!item->pieces.empty()) account.AddObject();
    for (Piece& piece : item->pieces) {
      auto given = feed.Give(piece);
      if (!given || *given != Flow::kOpen) return given;
    }
  }
}

Result<EpochOrder> PipeChannel::OrderOf(const Epoch& epoch) {
  if (!options_.shuffle_seed) return EpochOrder(options_.share);
  ASSIGN_OR_RETURN(const std::uint64_t count, items_->Count());
  return EpochOrder(options_.share, count, *options_.shuffle_seed, epoch.number);
}

}  // namespace sabia::channels
