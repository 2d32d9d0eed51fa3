#include "channels/object_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "env/posix/posix_files.h"

namespace sabia::channels {
namespace {

class LocalStream final : public ObjectStream {
 public:
  LocalStream(env::UniqueFd fd, std::uint64_t offset, std::uint64_t length, std::string name)
      : fd_(std::move(fd)), offset_(offset), length_(length), name_(std::move(name)) {}

  std::uint64_t size() const override { return length_; }
  std::optional<FilePart> File() const override { return FilePart{fd_.get(), offset_, length_}; }

  Result<std::size_t> Read(std::span<char> into) override {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(into.size(), length_ - std::min(done_, length_)));
    if (wanted == 0) return std::size_t{0};
    ssize_t n = -1;
    do {
      n = ::pread(fd_.get(), into.data(), wanted, static_cast<off_t>(offset_ + done_));
    } while (n < 0 && errno == EINTR);
    if (n < 0) return FailErrno(errno, "failed to read {}", name_);
    if (n == 0) return Fail(ErrorCode::kIo, "failed to read {}: its file ends early", name_);
    done_ += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
  }

 private:
  const env::UniqueFd fd_;
  const std::uint64_t offset_;
  const std::uint64_t length_;
  const std::string name_;
  std::uint64_t done_ = 0;
};

class LocalObjectReader final : public ObjectReader {
 public:
  Result<std::unique_ptr<ObjectStream>> Open(const ListedObject& object, ByteRange range) override {
    auto fd = env::OpenFile(object.blob, O_RDONLY | O_NOFOLLOW);
    if (!fd) {
      const ErrorCode code = fd.error().code;
      return Fail(code, "{}: {}", NameOf(object),
                  code == ErrorCode::kNotFound ? "it was deleted or replaced" : fd.error().message);
    }
    return MakeFileStream(std::move(*fd), object, range);
  }
};

class SplitReader final : public ObjectReader {
 public:
  SplitReader(std::unique_ptr<ObjectReader> local, std::unique_ptr<ObjectReader> remote)
      : local_(std::move(local)), remote_(std::move(remote)) {}

  Result<std::unique_ptr<ObjectStream>> Open(const ListedObject& object, ByteRange range) override {
    return (object.local() ? *local_ : *remote_).Open(object, range);
  }
  void Cancel() override {
    local_->Cancel();
    remote_->Cancel();
  }

 private:
  const std::unique_ptr<ObjectReader> local_;
  const std::unique_ptr<ObjectReader> remote_;
};

}  // namespace

std::unique_ptr<ObjectReader> MakeLocalObjectReader() {
  return std::make_unique<LocalObjectReader>();
}

std::unique_ptr<ObjectReader> MakeSplitReader(std::unique_ptr<ObjectReader> local,
                                              std::unique_ptr<ObjectReader> remote) {
  return std::make_unique<SplitReader>(std::move(local), std::move(remote));
}

Result<std::unique_ptr<ObjectStream>> MakeFileStream(env::UniqueFd file, const ListedObject& object,
                                                     ByteRange range) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0)
    return FailErrno(errno, "failed to look at {}", NameOf(object));
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  const bool sized = object.local() || !object.etag.empty();
  if (!S_ISREG(info.st_mode) || (sized && bytes != object.size)) {
    return Fail(ErrorCode::kConflict, "{} has {} bytes now, and had {} when it was listed",
                NameOf(object), bytes, object.size);
  }
  if (range.offset > bytes || range.length.value_or(0) > bytes - range.offset) {
    return Fail(ErrorCode::kInvalidArgument, "{} has {} bytes; asked for {} from {}",
                NameOf(object), bytes, range.length.value_or(0), range.offset);
  }
  return std::make_unique<LocalStream>(std::move(file), range.offset,
                                       range.length.value_or(bytes - range.offset), NameOf(object));
}

std::string NameOf(const ListedObject& object) {
  if (object.bucket.empty() || object.key.empty()) return fmt::format("'{}'", object.path);
  return fmt::format("'s3://{}/{}'", object.bucket, object.key);
}

}  // namespace sabia::channels
