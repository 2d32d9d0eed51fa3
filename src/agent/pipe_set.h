// The Pipe channels of an instance: prepared with the other channels, served while the program
// runs.
//
// Threading: Add on the worker that prepares; Start on the main thread; Stop on any, once; the
// getters between them on the main thread. Errors: those of PipeChannel, naming channel and URI.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "agent/layout.h"
#include "agent/stream_set.h"
#include "channels/download.h"
#include "channels/pipe_channel.h"
#include "model/instance.h"

namespace sabia::agent {

class PipeSet final : public StreamSet {
 public:
  explicit PipeSet(env::Clock& clock);
  ~PipeSet() override;

  struct Place {
    Path listing;
    Path data;     // where the FIFOs appear
    Path scratch;  // exists
  };
  // Makes the first FIFO. `connect`: for objects that are no files of this machine.
  Status Add(const model::ChannelSpec& channel, const Place& place, channels::MakeClient connect);

  void Start() override;
  void Cancel() override {}  // a reader that waits at a FIFO can be killed
  bool Stop() override;      // always true
  int news() const override { return news_.get(); }
  std::optional<Error> failure() const override;
  std::vector<model::ChannelReport> Reports() const override;
  std::vector<std::string> Notes(Millis trained) const override;

 private:
  struct Channel {
    model::ChannelSpec spec;
    std::unique_ptr<channels::ObjectReader> reader;
    std::unique_ptr<channels::PipeChannel> pipe;
  };

  env::Clock& clock_;
  env::UniqueFd news_;  // eventfd
  std::vector<Channel> channels_;
};

// "Data download failed:channel 'train' from s3://…", the words in front of what is wrong.
std::string DataFailure(const model::ChannelSpec& channel);

}  // namespace sabia::agent
