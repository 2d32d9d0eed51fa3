// $SABIA_HOME, opened: the tree exists, its format is ours, and no other daemon works in it.
//
// The first start makes the tree and draws an account id; each later one finds them. A crash at any
// moment of the first start leaves a home that the next one completes. The lock is a flock, so it
// ends with the process whatever happens; agents do not inherit it.
//
// Thread-safe after Open. Errors of Open: kUnavailable when a daemon runs here (the message names
// its pid), kInvalidArgument when the tree was written by a newer version or its path does not
// serve, kCorrupt, kDenied, kIo. Not here: credentials, certificates, databases; their owners keep
// them at the places that Paths names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/files.h"
#include "env/posix/posix_files.h"
#include "env/random.h"
#include "store/paths.h"

namespace sabia::store {

struct Account {
  std::string id;      // 12 digits
  std::string region;  // where clients are told to look, "us-west-2"
};

class Home {
 public:
  // `first_region` is the region of a home that has none yet.
  static Result<std::unique_ptr<Home>> Open(const Paths& paths, env::Files& files,
                                            env::Random& random, std::string_view first_region);
  // For commands that look at a home in which a daemon may be running. kNotFound before the first
  // start.
  static Result<Account> ReadAccount(const Paths& paths, env::Files& files);

  // The lock of a home that exists, for a command that must have it to itself; changes nothing
  // else. kNotFound when there is no home.
  static Result<env::UniqueFd> LockForCheck(const Paths& paths, env::Files& files);

  // After a start that failed: removes the tree if this Open made it, and the directories above it
  // that it made. Nothing of the tree may be in use.
  void Discard(env::Files& files);

  const Paths& paths() const { return paths_; }
  const Account& account() const { return account_; }

 private:
  Status Fill(env::Files& files, env::Random& random, std::string_view first_region);
  Home(Paths paths, env::UniqueFd lock) : paths_(std::move(paths)), lock_(std::move(lock)) {}

  Paths paths_;
  env::UniqueFd lock_;
  std::vector<env::Path> made_;  // by Open, from the top down; the last is the home itself
  Account account_;
};

}  // namespace sabia::store
