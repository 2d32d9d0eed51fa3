// Instance directories on the local disk, below <home>/instances.
#pragma once

#include "fleet/instance_files.h"
#include "fleet/posix/spare_directories.h"

namespace sabia::fleet {

class DiskInstanceFiles final : public InstanceFiles {
 public:
  DiskInstanceFiles(env::Files& files, store::Paths paths)
      : files_(files), paths_(std::move(paths)), spares_(files, paths_.run() / "spare") {}

  env::Path Directory(const std::string& id) const override { return paths_.instance(id); }
  Status Prepare(const std::string& id, const Preparation& preparation) override;
  Status Give(const std::string& id, const model::Orders& orders) override;
  Result<Observation> Observe(const std::string& id, bool alive) override;
  Result<std::string> ReadMetrics(const std::string& id, std::uint64_t from,
                                  std::size_t limit) override;
  bool Keep(const std::string& id) override;
  Status Remove(const std::string& id) override;
  Result<std::vector<std::string>> List() override;

 private:
  env::Files& files_;
  store::Paths paths_;
  SpareDirectories spares_;
};

}  // namespace sabia::fleet
