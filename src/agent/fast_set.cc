#include "agent/fast_set.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "agent/data_account.h"
#include "agent/pipe_set.h"
#include "fastfile/fuse_mount.h"

namespace sabia::agent {
namespace {

// Opened while the program still starts.
constexpr std::size_t kWarmConnections = 4;

// For requests to an endpoint that does not answer, after the program.
constexpr Millis kStopPatience{2'000};

Millis ToMillis(std::chrono::nanoseconds time) { return std::chrono::duration_cast<Millis>(time); }

}  // namespace

struct FastFileSet::Parts {
  fastfile::FileTree tree;
  std::unique_ptr<fastfile::DiskCache> cache;
  std::unique_ptr<fastfile::PrefetchEngine> engine;
  std::unique_ptr<fastfile::FuseMount> mount;
};

FastFileSet::FastFileSet(env::Clock& clock, const Limits& limits)
    : clock_(clock), limits_(limits), news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

FastFileSet::~FastFileSet() {
  if (parts_ && parts_->engine) parts_->engine->Cancel();
}

void FastFileSet::Add(const model::ChannelSpec& channel,
                      std::vector<channels::ListedObject> objects) {
  channels_.push_back({channel, std::move(objects)});
  // As the tree numbers them.
  std::sort(channels_.begin(), channels_.end(),
            [](const Channel& a, const Channel& b) { return a.spec.name < b.spec.name; });
}

Status FastFileSet::Mount(const Place& place, channels::MakeClient connect) {
  auto parts = std::make_unique<Parts>();
  fastfile::FileTree::Builder builder;
  for (Channel& channel : channels_)
    builder.AddChannel(channel.spec.name, std::exchange(channel.objects, {}));
  ASSIGN_OR_RETURN(parts->tree, std::move(builder).Build());
  fastfile::EngineOptions options;
  options.memory = limits_.memory;
  options.warm = kWarmConnections;
  if (limits_.disk > 0) {
    ASSIGN_OR_RETURN(parts->cache, fastfile::DiskCache::Open(place.scratch, limits_.disk));
    options.cache = parts->cache.get();
  }
  options.news = news_.get();
  parts->engine =
      std::make_unique<fastfile::PrefetchEngine>(parts->tree, std::move(connect), clock_, options);
  ASSIGN_OR_RETURN(parts->mount,
                   fastfile::FuseMount::Mount(parts->tree, *parts->engine, place.target));
  parts_ = std::move(parts);
  return {};
}

void FastFileSet::Start() { started_ = clock_.Mono(); }

void FastFileSet::Cancel() {
  if (parts_) parts_->engine->Cancel();
}

bool FastFileSet::Stop() {
  stopped_ = clock_.Mono();
  if (!parts_) return true;
  const bool quiet = parts_->engine->Stop(kStopPatience);
  parts_->mount->Stop();
  return quiet;
}

std::optional<Error> FastFileSet::failure() const {
  if (!parts_) return std::nullopt;
  auto failure = parts_->engine->failure();
  if (!failure) return std::nullopt;
  return Annotate(std::move(failure->error), DataFailure(channels_[failure->channel].spec));
}

model::ChannelReport FastFileSet::ReportOf(std::size_t channel) const {
  const fastfile::ChannelStats stats = parts_->engine->stats(channel);
  model::ChannelReport out;
  out.name = channels_[channel].spec.name;
  out.mode = model::InputMode::kFastFile;
  out.way = "stream";
  out.objects = static_cast<std::int64_t>(stats.opened);
  out.bytes = static_cast<std::int64_t>(stats.bytes);
  out.reads = static_cast<std::int64_t>(stats.reads);
  out.hits = static_cast<std::int64_t>(stats.hits);
  out.fetched = static_cast<std::int64_t>(stats.fetched);
  out.starved = ToMillis(stats.starved);
  if (started_ != MonoTime()) out.served = ToMillis(stopped_.value_or(clock_.Mono()) - started_);
  return out;
}

std::vector<model::ChannelReport> FastFileSet::Reports() const {
  std::vector<model::ChannelReport> out;
  if (!parts_) return out;
  for (std::size_t i = 0; i < channels_.size(); ++i) out.push_back(ReportOf(i));
  return out;
}

std::vector<std::string> FastFileSet::Notes(Millis trained) const {
  std::vector<std::string> out;
  const std::vector<model::ChannelReport> reports = Reports();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto note = StarvedNote(channels_[i].spec, reports[i], trained, true);
    if (note) out.push_back(std::move(*note));
  }
  return out;
}

}  // namespace sabia::agent
