#include "objects/sealing.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/check.h"
#include "wire/sha256.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kNonceBytes = 12;
using Nonce = std::array<unsigned char, kNonceBytes>;

struct CloseCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, CloseCipher>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

void AppendBigEndian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>((value >> shift) & 0xff);
  }
}

DataKey SegmentKey(const DataKey& key, std::string_view salt) {
  const std::string_view secret(reinterpret_cast<const char*>(key.data()), key.size());
  const auto derived = wire::HmacSha256(secret, fmt::format("sabia segment\n{}", salt));
  DataKey out;
  static_assert(sizeof(derived) == sizeof(out));
  std::copy(derived.begin(), derived.end(), out.begin());
  return out;
}

Nonce NonceOf(std::uint64_t frame) {
  std::string text(4, '\0');
  AppendBigEndian(text, frame, 8);
  Nonce out;
  std::copy(text.begin(), text.end(), out.begin());
  return out;
}

std::string AssociatedOf(int part_number, std::uint64_t frame, bool last) {
  std::string out;
  AppendBigEndian(out, static_cast<std::uint64_t>(part_number), 4);
  AppendBigEndian(out, frame, 8);
  out += last ? '\1' : '\0';
  return out;
}

struct Box {
  const DataKey& key;
  const Nonce& nonce;
  std::string_view associated;
};

// The library fails only when it is broken or out of memory.
Status Broken() { return Fail(ErrorCode::kInternal, "OpenSSL failed to run AES-256-GCM"); }

Result<std::string> Seal(const Box& box, std::string_view text) {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  std::string out(text.size() + kTagBytes, '\0');
  int n = 0;
  const bool done = cipher &&
                    EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, box.key.data(),
                                       box.nonce.data()) == 1 &&
                    EVP_EncryptUpdate(cipher.get(), nullptr, &n, Bytes(box.associated),
                                      static_cast<int>(box.associated.size())) == 1 &&
                    EVP_EncryptUpdate(cipher.get(), Bytes(out), &n, Bytes(text),
                                      static_cast<int>(text.size())) == 1 &&
                    EVP_EncryptFinal_ex(cipher.get(), Bytes(out) + text.size(), &n) == 1 &&
                    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                                        Bytes(out) + text.size()) == 1;
  if (!done) return tl::make_unexpected(Broken().error());
  return out;
}

Result<std::string> Open(const Box& box, std::string_view sealed) {
  if (sealed.size() < kTagBytes) return Fail(ErrorCode::kCorrupt, "sealed bytes are cut short");
  const std::string_view text = sealed.substr(0, sealed.size() - kTagBytes);
  std::string tag(sealed.substr(text.size()));
  const Cipher cipher(EVP_CIPHER_CTX_new());
  std::string out(text.size(), '\0');
  int n = 0;
  const bool done =
      cipher &&
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, box.key.data(),
                         box.nonce.data()) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &n, Bytes(box.associated),
                        static_cast<int>(box.associated.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), Bytes(out), &n, Bytes(text), static_cast<int>(text.size())) ==
          1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, Bytes(tag)) == 1;
  if (!done) return tl::make_unexpected(Broken().error());
  unsigned char rest[kTagBytes];
  if (EVP_DecryptFinal_ex(cipher.get(), rest, &n) != 1) {
    return Fail(ErrorCode::kCorrupt, "sealed bytes do not match their tag");
  }
  return out;
}

std::uint64_t FramesOf(std::uint64_t content_size) {
  return std::max<std::uint64_t>(1, (content_size + kFrameBytes - 1) / kFrameBytes);
}

Status ReadFully(int fd, std::uint64_t offset, std::string& out) {
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t n =
        ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read a blob");
    if (n == 0) return Fail(ErrorCode::kCorrupt, "a sealed blob is cut short");
    done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace

std::uint64_t SealedSize(std::uint64_t content_size) {
  return kSaltBytes + content_size + FramesOf(content_size) * kTagBytes;
}

Sealer::Sealer(const DataKey& key, int part_number,
               const std::array<unsigned char, kSaltBytes>& salt, Sink sink)
    : key_(SegmentKey(key, {reinterpret_cast<const char*>(salt.data()), salt.size()})),
      part_number_(part_number),
      sink_(std::move(sink)),
      head_(salt.begin(), salt.end()) {}

Status Sealer::SealFrame(std::string_view content, bool last) {
  if (!head_.empty()) {
    RETURN_IF_ERROR(sink_(head_));
    head_.clear();
  }
  const Nonce nonce = NonceOf(frame_);
  ASSIGN_OR_RETURN(const std::string sealed,
                   Seal({key_, nonce, AssociatedOf(part_number_, frame_, last)}, content));
  ++frame_;
  return sink_(sealed);
}

Status Sealer::Write(std::string_view content) {
  // A full frame waits until more comes: it might be the last one.
  while (held_.size() + content.size() > kFrameBytes) {
    const std::size_t taken = kFrameBytes - held_.size();
    held_ += content.substr(0, taken);
    content.remove_prefix(taken);
    RETURN_IF_ERROR(SealFrame(held_, false));
    held_.clear();
  }
  held_ += content;
  return {};
}

Status Sealer::Finish() { return SealFrame(held_, true); }

Result<Unsealer::Place> Unsealer::Find(std::uint64_t offset) {
  std::uint64_t start = 0, position = 0;
  for (const Segment& segment : segments_) {
    if (offset < start + segment.size) return Place{&segment, start, position};
    start += segment.size;
    position += SealedSize(segment.size);
  }
  return Fail(ErrorCode::kCorrupt, "byte {} lies behind the end of {}", offset, start);
}

Status Unsealer::OpenFrame(const Place& place, std::uint64_t number) {
  if (position_ == place.position && number_ == number) return {};
  number_ = UINT64_MAX;  // in case of failure
  if (position_ != place.position) {
    std::string salt(kSaltBytes, '\0');
    RETURN_IF_ERROR(ReadFully(fd_, place.position, salt));
    key_ = SegmentKey(object_key_, salt);
    position_ = place.position;
  }
  const std::uint64_t start = number * kFrameBytes;
  const std::uint64_t size = std::min<std::uint64_t>(kFrameBytes, place.segment->size - start);
  std::string sealed(size + kTagBytes, '\0');
  RETURN_IF_ERROR(
      ReadFully(fd_, place.position + kSaltBytes + number * (kFrameBytes + kTagBytes), sealed));
  const bool last = number + 1 == FramesOf(place.segment->size);
  const Nonce nonce = NonceOf(number);
  ASSIGN_OR_RETURN(frame_,
                   Open({key_, nonce, AssociatedOf(place.segment->number, number, last)}, sealed));
  number_ = number;
  return {};
}

Status Unsealer::Read(std::uint64_t offset, std::span<char> out) {
  while (!out.empty()) {
    ASSIGN_OR_RETURN(const Place place, Find(offset));
    const std::uint64_t within = offset - place.start;
    RETURN_IF_ERROR(OpenFrame(place, within / kFrameBytes));
    const std::size_t skip = within % kFrameBytes;
    const std::size_t n = std::min(out.size(), frame_.size() - skip);
    CHECK(n > 0);
    std::copy_n(frame_.data() + skip, n, out.data());
    out = out.subspan(n);
    offset += n;
  }
  return {};
}

Result<std::string> SealText(const SealedText& how, std::string_view text,
                             const std::array<unsigned char, 12>& nonce) {
  ASSIGN_OR_RETURN(const std::string sealed, Seal({how.key, nonce, how.associated}, text));
  return std::string(nonce.begin(), nonce.end()) + sealed;
}

Result<std::string> OpenText(const SealedText& how, std::string_view sealed) {
  if (sealed.size() < kNonceBytes) return Fail(ErrorCode::kCorrupt, "sealed text is cut short");
  Nonce nonce;
  std::copy_n(sealed.begin(), kNonceBytes, nonce.begin());
  return Open({how.key, nonce, how.associated}, sealed.substr(kNonceBytes));
}

}  // namespace sabia::objects
