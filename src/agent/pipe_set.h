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
#include "channels/download.h"
#include "channels/pipe_channel.h"
#include "model/instance.h"

namespace sabia::agent {

class PipeSet {
 public:
  explicit PipeSet(env::Clock& clock);
  ~PipeSet();

  struct Place {
    Path listing;
    Path data;     // where the FIFOs appear
    Path scratch;  // exists
  };
  // Makes the first FIFO. `connect`: for objects that are no files of this machine.
  Status Add(const model::ChannelSpec& channel, const Place& place, channels::MakeClient connect);

  void Start();
  // After the program has ended: nothing is served any more.
  void Stop();

  // Readable when failure() may have something to say.
  int news() const { return news_.get(); }
  // Why a channel cannot go on: "Data download failed:channel 'train' from s3://…: …".
  std::optional<Error> failure() const;
  std::vector<model::ChannelReport> Reports() const;
  // What the user should know of a program that ran for so long: that it was starved, and what
  // would help.
  std::vector<std::string> Notes(Millis trained) const;

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
