#include "agent/data_account.h"

#include <algorithm>
#include <string_view>

namespace sabia::agent {
namespace {

constexpr std::int64_t kSmallObject = 1 << 20;

double InSeconds(Millis time) { return static_cast<double>(time.count()) / 1000; }

// The mode or format that would help most.
std::string_view Advice(const model::ChannelSpec& channel, const model::ChannelReport& report,
                        bool remote) {
  if (channel.mode == model::InputMode::kFastFile) {
    const std::int64_t each = report.fetched / std::max<std::int64_t>(1, report.objects);
    if (each < kSmallObject && report.objects > 1)
      return "its objects are small, and each costs a request: read by more workers at once, or "
             "packed into larger objects, they would arrive faster; File mode fetches all of them "
             "before the program starts";
    if (report.reads > 0 && report.hits < report.reads / 2)
      return "its reads jump: nothing can be fetched ahead of them; File mode fetches everything "
             "before the program starts";
    return "the endpoint is slower than the program: File mode fetches everything once, before the "
           "program starts";
  }
  if (channel.compression == "Gzip")
    return "its objects are decompressed on the way, by one thread: stored uncompressed they would "
           "arrive faster, in Pipe mode or as files in FastFile mode";
  if (std::any_of(channel.attributes.begin(), channel.attributes.end(),
                  [](const std::string& name) { return name.ends_with("-ref"); }))
    return "the objects that its lines refer to are fetched in every epoch: in File mode, with a "
           "ManifestFile, they would be there before the program starts";
  if (remote && report.epochs > 1)
    return "every epoch is fetched anew: File mode fetches once, before the program starts";
  return "FastFile mode would let it read several objects at once, and read them again from memory";
}

}  // namespace

std::string DataMetricLines(const DataInterval& interval, const model::ChannelReport& before,
                            const model::ChannelReport& now) {
  std::string out;
  const auto add = [&](std::string_view name, double value, std::string_view unit) {
    out += json::serialize(
        json::object{{"name", name},
                     {"value", value},
                     {"time", ToUnixMillis(interval.end)},
                     {"unit", unit},
                     {"dimensions", json::object{{"Host", interval.host}, {"Channel", now.name}}}});
    out += '\n';
  };
  const auto bytes = static_cast<double>(now.bytes - before.bytes);
  add("InputBytes", bytes, "Bytes");
  add("InputObjects", static_cast<double>(now.objects - before.objects), "Count");
  const bool files = now.mode == model::InputMode::kFastFile;
  if (files) {
    add("InputReads", static_cast<double>(now.reads - before.reads), "Count");
    add("InputPrefetchHits", static_cast<double>(now.hits - before.hits), "Count");
    add("InputFetchedBytes", static_cast<double>(now.fetched - before.fetched), "Bytes");
  } else {
    add("InputEpochs", static_cast<double>(now.epochs - before.epochs), "Count");
  }
  add("InputStarvedTime", InSeconds(now.starved - before.starved), "Seconds");
  if (!files) add("InputBlockedTime", InSeconds(now.blocked - before.blocked), "Seconds");
  if (interval.length.count() > 0)
    add("InputThroughput", bytes / InSeconds(interval.length), "Bytes/Second");
  return out;
}

std::optional<std::string> StarvedNote(const model::ChannelSpec& channel,
                                       const model::ChannelReport& report, Millis trained,
                                       bool remote) {
  if (report.starved < kStarvedLeast) return std::nullopt;
  const double share = InSeconds(report.starved) / std::max(InSeconds(trained), 0.001);
  if (share <= kStarvedShare) return std::nullopt;
  return fmt::format(
      "channel '{}': the program waited for data for {:.0f} s of {:.0f} s ({:.0f} %); {}",
      channel.name, InSeconds(report.starved), InSeconds(trained), std::min(share, 1.0) * 100,
      Advice(channel, report, remote));
}

}  // namespace sabia::agent
