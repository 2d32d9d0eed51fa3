// A resources database in a directory of its own, for tests of whoever needs a store.
#pragma once

#include <memory>

#include "base/check.h"
#include "env/testing/temporary_directory.h"
#include "store/resources.h"
#include "store/series.h"
#include "store/state.h"

namespace sabia::store::testing {

class TemporaryState {
 public:
  TemporaryState() { Reopen(); }

  // As after a restart of the daemon.
  void Reopen() {
    resources_.reset();
    series_.reset();
    database_.reset();
    auto opened = OpenState(paths());
    CHECK_MSG(opened.has_value(), opened ? "" : opened.error().message);
    database_ = std::move(*opened);
    resources_ = std::make_unique<Resources>(*database_);
    series_ = std::make_unique<Series>(*database_);
  }

  Paths paths() const { return Paths(directory_.path()); }
  Database& database() { return *database_; }
  Resources& resources() { return *resources_; }
  Series& series() { return *series_; }

 private:
  env::TemporaryDirectory directory_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Resources> resources_;
  std::unique_ptr<Series> series_;
};

}  // namespace sabia::store::testing
