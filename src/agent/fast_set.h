// The FastFile channels of an instance whose objects are at an endpoint outside: one file system
// that is mounted while the program runs, a directory per channel.
//
// Threading: Add and Mount on the worker that prepares; Cancel and Stop on any, Stop once; the
// others on the main thread. Errors: of Mount kUnimplemented when this machine has no FUSE for us,
// kInvalidArgument when paths clash; of failure() those of an S3 client, naming channel and object.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "agent/layout.h"
#include "agent/stream_set.h"
#include "channels/fetch.h"
#include "env/clock.h"
#include "env/posix/posix_files.h"
#include "model/instance.h"

namespace sabia::agent {

class FastFileSet final : public StreamSet {
 public:
  struct Limits {
    std::uint64_t memory = 0;
    std::uint64_t disk = 0;  // for later epochs; 0: none is used
  };
  FastFileSet(env::Clock& clock, const Limits& limits);
  ~FastFileSet() override;

  void Add(const model::ChannelSpec& channel, std::vector<channels::ListedObject> objects);
  // On an empty directory, in which each channel is a directory of its name.
  // scratch: exists, on the disk.
  struct Place {
    Path target;
    Path scratch;
  };
  Status Mount(const Place& place, channels::MakeClient connect);

  void Start() override;
  void Cancel() override;  // readers get errors from now on
  bool Stop() override;
  int news() const override { return news_.get(); }
  std::optional<Error> failure() const override;
  std::vector<model::ChannelReport> Reports() const override;
  std::vector<std::string> Notes(Millis trained) const override;

 private:
  struct Parts;
  struct Channel {
    model::ChannelSpec spec;
    std::vector<channels::ListedObject> objects;  // until Mount
  };
  model::ChannelReport ReportOf(std::size_t channel) const;

  env::Clock& clock_;
  const Limits limits_;
  env::UniqueFd news_;             // eventfd
  std::vector<Channel> channels_;  // by name
  std::unique_ptr<Parts> parts_;
  MonoTime started_;
  std::optional<MonoTime> stopped_;
};

}  // namespace sabia::agent
