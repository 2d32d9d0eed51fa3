#include "channels/pipe_meter.h"

namespace sabia::channels {

PipeMeter::Epoch::Epoch(PipeMeter& meter, MonoTime now) : meter_(meter), since_(now) {
  const std::lock_guard lock(meter_.mutex_);
  place_ = meter_.live_.insert(meter_.live_.end(), this);
}

PipeMeter::Epoch::~Epoch() {
  const std::lock_guard lock(meter_.mutex_);
  meter_.live_.erase(place_);
}

void PipeMeter::Epoch::Settle(MonoTime now) {
  if (Counts()) TimeOf(meter_.done_, state_) += now - since_;
  since_ = now;
}

bool PipeMeter::Epoch::Counts() const {
  return !closed_ && (state_ != State::kUnopened || meter_.open_ == 0);
}

void PipeMeter::Epoch::Open(MonoTime now) {
  const std::lock_guard lock(meter_.mutex_);
  Settle(now);
  state_ = State::kMoving;
  ++meter_.open_;
  ++meter_.done_.opened;
}

void PipeMeter::Epoch::Enter(State state, MonoTime now) {
  const std::lock_guard lock(meter_.mutex_);
  Settle(now);
  state_ = state;
}

void PipeMeter::Epoch::RanEmpty(MonoTime now) {
  const std::lock_guard lock(meter_.mutex_);
  const auto half = (now - since_) / 2;
  meter_.done_.starved += half;
  TimeOf(meter_.done_, state_) += now - since_ - half;
  since_ = now;
  state_ = State::kMoving;
}

void PipeMeter::Epoch::AddBytes(std::uint64_t bytes) {
  const std::lock_guard lock(meter_.mutex_);
  meter_.done_.bytes += bytes;
}

void PipeMeter::Epoch::AddObject() {
  const std::lock_guard lock(meter_.mutex_);
  ++meter_.done_.objects;
}

void PipeMeter::Epoch::Close(End end, MonoTime now) {
  const std::lock_guard lock(meter_.mutex_);
  Settle(now);
  closed_ = true;
  --meter_.open_;
  for (Epoch* epoch : meter_.live_) {
    if (epoch->state_ == State::kUnopened) epoch->since_ = now;
  }
  if (end == End::kDelivered) ++meter_.done_.delivered;
  if (end == End::kCut) ++meter_.done_.cut;
}

std::chrono::nanoseconds& PipeMeter::TimeOf(PipeStats& stats, State state) {
  switch (state) {
    case State::kUnopened:
      return stats.unopened;
    case State::kStarved:
      return stats.starved;
    case State::kBlocked:
      return stats.blocked;
    case State::kMoving:
      break;
  }
  return stats.moving;
}

PipeStats PipeMeter::Read(MonoTime now) const {
  const std::lock_guard lock(mutex_);
  PipeStats out = done_;
  for (const Epoch* epoch : live_) {
    if (epoch->Counts() && now > epoch->since_) TimeOf(out, epoch->state_) += now - epoch->since_;
  }
  return out;
}

}  // namespace sabia::channels
