#include "channels/downloading_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace sabia::channels {
namespace {

class DownloadingReader final : public ObjectReader {
 public:
  DownloadingReader(MakeClient make_client, env::Path scratch)
      : make_client_(std::move(make_client)), scratch_(std::move(scratch)) {}

  Result<std::unique_ptr<ObjectStream>> Open(const ListedObject& object, ByteRange range) override {
    ASSIGN_OR_RETURN(std::unique_ptr<wire::S3Client> client, Take());
    auto file = Fetch(*client, object);
    Return(std::move(client));
    if (!file) return tl::make_unexpected(std::move(file).error());
    return MakeFileStream(std::move(*file), object, range);
  }

  void Cancel() override { cancelled_ = true; }

 private:
  Result<env::UniqueFd> Fetch(wire::S3Client& client, const ListedObject& object) {
    const env::Path path = scratch_ / fmt::format("object-{}", next_.fetch_add(1));
    while (true) {
      if (cancelled_.load()) return Fail(ErrorCode::kTimeout, "cancelled");
      const Status got = client.Download({object.bucket, object.key}, path);
      if (got) break;
      const ErrorCode code = got.error().code;
      if (code != ErrorCode::kUnavailable && code != ErrorCode::kTimeout)
        return Wrap(got.error(), NameOf(object));
    }
    auto file = env::OpenFile(path, O_RDONLY);
    ::unlink(path.c_str());
    return file;
  }

  // A client serves one call at a time; as many are made as there are calls at once.
  Result<std::unique_ptr<wire::S3Client>> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<wire::S3Client> client = std::move(idle_.back());
        idle_.pop_back();
        return client;
      }
    }
    return make_client_();
  }
  void Return(std::unique_ptr<wire::S3Client> client) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(client));
  }

  const MakeClient make_client_;
  const env::Path scratch_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<wire::S3Client>> idle_;
};

}  // namespace

std::unique_ptr<ObjectReader> MakeDownloadingReader(MakeClient make_client, env::Path scratch) {
  return std::make_unique<DownloadingReader>(std::move(make_client), std::move(scratch));
}

}  // namespace sabia::channels
