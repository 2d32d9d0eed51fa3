// The agent's side of the instance directory: the lock, the report, the orders, the pokes.
//
// Everything here survives the daemon's absence: reports stay on disk, lost pokes cost the daemon
// at most a second.
//
// Threading: thread-compatible.
#pragma once

#include <optional>
#include <string>

#include "agent/layout.h"
#include "env/posix/posix_files.h"
#include "model/instance.h"

namespace sabia::agent {

class Link {
 public:
  // Takes the lock and reads the spec. kConflict: another agent lives in this directory.
  static Result<Link> Open(const Layout& layout);

  const model::InstanceSpec& spec() const { return spec_; }
  const Layout& layout() const { return layout_; }

  // Writes the report, without a word to the daemon, which reads it when it looks next.
  Status Write(const model::Report& report);
  // … and pokes the daemon.
  Status Publish(const model::Report& report);
  // The last one. A daemon that hears of it has it in its database within moments; when none does,
  // the report is synced, for it may have to wait for long.
  Status PublishLast(const model::Report& report);

  // Readable when the daemon poked us.
  int pokes() const { return pokes_.get(); }
  void DrainPokes();
  // Of an agent that waits: the directory that it is called to, if any. Pokes are drained.
  std::optional<Path> TakeCall();
  bool Deserted() const;  // the directory was removed
  // The orders, when the file changed since the last call. A file that cannot be read is treated as
  // unchanged.
  std::optional<model::Orders> NewOrders();

 private:
  Link(const Layout& layout, model::InstanceSpec spec) : layout_(layout), spec_(std::move(spec)) {}
  Status Listen();
  Status Write(const model::Report& report, env::Durability durability);
  Result<bool> WriteIntoEmptyFile(const std::string& text, env::Durability durability);
  bool Poke();  // whether a daemon was there to hear it

  Layout layout_;
  model::InstanceSpec spec_;
  int reports_ = 0;  // written
  env::UniqueFd lock_;
  env::UniqueFd pokes_;   // a FIFO: a socket's file would have to be made anew by each agent
  env::UniqueFd socket_;  // to the daemon
  // Identity of the orders file last read: device-independent enough, for each replacement makes a
  // new inode.
  ino_t orders_inode_ = 0;
  std::int64_t orders_mtime_ns_ = 0;
};

}  // namespace sabia::agent
