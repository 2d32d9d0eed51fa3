#include "wire/content_check.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/encoding.h"

namespace sabia::wire {
namespace {
constexpr std::size_t kReadStep = 1 << 20;
}  // namespace

std::string Crc32Text(std::uint32_t crc) {
  const char bytes[4] = {static_cast<char>(crc >> 24), static_cast<char>(crc >> 16),
                         static_cast<char>(crc >> 8), static_cast<char>(crc)};
  return Base64Encode({bytes, sizeof bytes});
}

std::uint32_t Crc32(std::uint32_t crc, std::string_view data) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const unsigned char*>(data.data()), data.size()));
}

Result<std::uint32_t> Crc32OfFile(const FileSpan& file) {
  std::vector<char> block(
      std::min<std::uint64_t>(kReadStep, std::max<std::uint64_t>(1, file.length)));
  std::uint32_t crc = 0;
  for (std::uint64_t done = 0; done < file.length;) {
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), file.length - done);
    const ssize_t n =
        ::pread(file.fd, block.data(), wanted, static_cast<off_t>(file.offset + done));
    if (n < 0) return FailErrno(errno, "failed to read what is uploaded");
    if (n == 0) return Fail(ErrorCode::kIo, "the file became shorter while it was read");
    crc = Crc32(crc, {block.data(), static_cast<std::size_t>(n)});
    done += static_cast<std::uint64_t>(n);
  }
  return crc;
}

void ContentCheck::Start(const Headers& headers) {
  announced_ = ChecksumOf(headers);
  hasher_.reset();
  if (announced_.kind == ObjectChecksum::Kind::kWhole) hasher_ = NewHasherOf(announced_);
}

void ContentCheck::Update(std::string_view data) {
  if (hasher_) hasher_->Update(data);
}

Status ContentCheck::Finish() {
  return hasher_ ? CompareChecksum(announced_, hasher_->Finish()) : Status();
}

}  // namespace sabia::wire
