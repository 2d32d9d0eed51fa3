#include "wire/content_check.h"

#include <openssl/evp.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
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

struct ContentCheck::Md5 {
  Md5() : state(EVP_MD_CTX_new()) {
    CHECK(state != nullptr && EVP_DigestInit_ex(state, EVP_md5(), nullptr) == 1);
  }
  ~Md5() { EVP_MD_CTX_free(state); }
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;
  EVP_MD_CTX* state;
};

ContentCheck::ContentCheck() = default;
ContentCheck::~ContentCheck() = default;

void ContentCheck::Start(const Headers& headers) {
  crc_ = 0;
  md5_.reset();
  expected_md5_.clear();
  expected_crc_ = headers.Get("x-amz-checksum-crc32");
  // "…-5": of the parts' checksums, not of the whole.
  if (expected_crc_.find('-') != std::string::npos) expected_crc_.clear();
  if (!expected_crc_.empty()) return;
  std::string_view etag = headers.Get("ETag");
  if (etag.size() != 34 || etag.front() != '"') return;
  etag = etag.substr(1, 32);
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  // The ETag of an object under a KMS key looks like an MD5 and is none.
  if (!std::all_of(etag.begin(), etag.end(), hex)) return;
  if (headers.Get("x-amz-server-side-encryption") == "aws:kms") return;
  expected_md5_ = etag;
  md5_ = std::make_unique<Md5>();
}

void ContentCheck::Update(std::string_view data) {
  if (!expected_crc_.empty()) crc_ = Crc32(crc_, data);
  if (md5_) EVP_DigestUpdate(md5_->state, data.data(), data.size());
}

Status ContentCheck::Finish() {
  if (!expected_crc_.empty() && Crc32Text(crc_) != expected_crc_) {
    return Fail(ErrorCode::kCorrupt, "the CRC-32 of the content is {}, but {} was announced",
                Crc32Text(crc_), expected_crc_);
  }
  if (md5_) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(md5_->state, digest, &size);
    const std::string md5 = HexEncode({reinterpret_cast<const char*>(digest), size});
    if (md5 != expected_md5_) {
      return Fail(ErrorCode::kCorrupt, "the MD5 of the content is {}, but {} was announced", md5,
                  expected_md5_);
    }
  }
  return {};
}

}  // namespace sabia::wire
