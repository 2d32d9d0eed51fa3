// The channels of one kind whose bytes are served while the program runs (PipeSet, FastFileSet), as
// the supervisor sees them.
//
// Threading: Start and the getters on the main thread; Cancel and Stop on any, Stop once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/instance.h"

namespace sabia::agent {

class StreamSet {
 public:
  virtual ~StreamSet() = default;

  virtual void Start() = 0;  // the program runs from now on
  // Before the program is killed: nobody may wait for us any more. Does not block.
  virtual void Cancel() = 0;
  // After the program has ended: nothing is served any more. False: a request still hangs, and the
  // set must not be destroyed.
  virtual bool Stop() = 0;

  // Readable when failure() may have something to say.
  virtual int news() const = 0;
  // Why a channel cannot go on: "Data download failed:channel 'train' from s3://…: …".
  virtual std::optional<Error> failure() const = 0;
  virtual std::vector<model::ChannelReport> Reports() const = 0;
  // What the user should know of a program that ran for so long: that it was starved, and what
  // would help.
  virtual std::vector<std::string> Notes(Millis trained) const = 0;
};

}  // namespace sabia::agent
