#include "agent/pipe_set.h"

#include <sys/eventfd.h>

#include <utility>

#include "agent/data_account.h"
#include "channels/downloading_reader.h"

namespace sabia::agent {
namespace {

Millis ToMillis(std::chrono::nanoseconds time) { return std::chrono::duration_cast<Millis>(time); }

model::ChannelReport ReportOf(const channels::PipeChannel& pipe) {
  const channels::PipeStats stats = pipe.stats();
  model::ChannelReport out;
  out.name = pipe.name();
  out.mode = model::InputMode::kPipe;
  out.way = "pipe";
  out.objects = static_cast<std::int64_t>(stats.objects);
  out.bytes = static_cast<std::int64_t>(stats.bytes);
  out.epochs = static_cast<std::int64_t>(stats.opened);
  out.epochs_delivered = static_cast<std::int64_t>(stats.delivered);
  out.epochs_cut = static_cast<std::int64_t>(stats.cut);
  out.unopened = ToMillis(stats.unopened);
  out.starved = ToMillis(stats.starved);
  out.blocked = ToMillis(stats.blocked);
  out.served = ToMillis(stats.served());
  return out;
}

}  // namespace

PipeSet::PipeSet(env::Clock& clock)
    : clock_(clock), news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

PipeSet::~PipeSet() { Stop(); }

Status PipeSet::Add(const model::ChannelSpec& channel, const Place& place,
                    channels::MakeClient connect) {
  channels::PipeChannelOptions options;
  options.name = channel.name;
  options.directory = place.data;
  options.items = {place.listing, channel.attributes, place.scratch};
  options.format = {channel.record_wrapper == "RecordIO", channel.compression == "Gzip"};
  if (channel.shuffle_seed)
    options.shuffle_seed = static_cast<std::uint64_t>(*channel.shuffle_seed);
  options.share = {static_cast<std::uint64_t>(channel.share_host),
                   static_cast<std::uint64_t>(channel.share_hosts)};
  Channel added;
  added.spec = channel;
  added.reader =
      channels::MakeSplitReader(channels::MakeLocalObjectReader(),
                                channels::MakeDownloadingReader(std::move(connect), place.scratch));
  ASSIGN_OR_RETURN(added.pipe, channels::PipeChannel::Open(std::move(options), *added.reader,
                                                           clock_, news_.get()));
  channels_.push_back(std::move(added));
  return {};
}

void PipeSet::Start() {
  for (Channel& channel : channels_) channel.pipe->Start();
}

bool PipeSet::Stop() {
  for (Channel& channel : channels_) channel.reader->Cancel();
  for (Channel& channel : channels_) channel.pipe->Stop();
  return true;
}

std::optional<Error> PipeSet::failure() const {
  for (const Channel& channel : channels_) {
    if (auto error = channel.pipe->failure())
      return Annotate(std::move(*error), DataFailure(channel.spec));
  }
  return std::nullopt;
}

std::vector<model::ChannelReport> PipeSet::Reports() const {
  std::vector<model::ChannelReport> out;
  for (const Channel& channel : channels_) out.push_back(ReportOf(*channel.pipe));
  return out;
}

std::vector<std::string> PipeSet::Notes(Millis trained) const {
  std::vector<std::string> out;
  for (const Channel& channel : channels_) {
    auto note = StarvedNote(channel.spec, ReportOf(*channel.pipe), trained, channel.pipe->remote());
    if (note) out.push_back(std::move(*note));
  }
  return out;
}

std::string DataFailure(const model::ChannelSpec& channel) {
  return fmt::format("Data download failed:channel '{}' from {}", channel.name, channel.s3_uri);
}

}  // namespace sabia::agent
