#include "channels/gunzip.h"

#include <zlib.h>

#include <array>
#include <utility>

#include "base/check.h"

namespace sabia::channels {
namespace {

constexpr std::size_t kInputBytes = 32 << 10;
constexpr int kGzipOnly = 15 + 16;  // windowBits: the largest window, with a gzip header

}  // namespace

struct Gunzip::State {
  z_stream z{};
  std::array<unsigned char, kInputBytes> input;
  bool in_member = false;
  bool any_member = false;
  bool input_ended = false;
};

Gunzip::Gunzip(ObjectStream& in, std::string name)
    : in_(in), name_(std::move(name)), state_(std::make_unique<State>()) {
  CHECK(::inflateInit2(&state_->z, kGzipOnly) == Z_OK);
}

Gunzip::~Gunzip() { ::inflateEnd(&state_->z); }

Status Gunzip::Fill() {
  if (state_->z.avail_in > 0 || state_->input_ended) return {};
  auto* bytes = reinterpret_cast<char*>(state_->input.data());
  ASSIGN_OR_RETURN(const std::size_t n, in_.Read({bytes, state_->input.size()}));
  state_->input_ended = n == 0;
  state_->z.next_in = state_->input.data();
  state_->z.avail_in = static_cast<unsigned>(n);
  return {};
}

Result<bool> Gunzip::BeginMember() {
  z_stream& z = state_->z;
  while (true) {
    RETURN_IF_ERROR(Fill());
    if (z.avail_in == 0) return false;
    if (!state_->any_member || *z.next_in != 0) break;
    ++z.next_in;  // padding
    --z.avail_in;
  }
  CHECK(::inflateReset(&z) == Z_OK);
  state_->in_member = true;
  state_->any_member = true;
  return true;
}

Result<std::size_t> Gunzip::Read(std::span<char> into) {
  z_stream& z = state_->z;
  z.next_out = reinterpret_cast<unsigned char*>(into.data());
  z.avail_out = static_cast<unsigned>(into.size());
  while (z.avail_out == into.size()) {
    if (!state_->in_member) {
      ASSIGN_OR_RETURN(const bool more, BeginMember());
      if (!more) return std::size_t{0};
    }
    RETURN_IF_ERROR(Fill());
    if (z.avail_in == 0) {
      return Fail(ErrorCode::kInvalidArgument, "{} ends in the middle of its gzip data", name_);
    }
    const int result = ::inflate(&z, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      state_->in_member = false;
    } else if (result == Z_MEM_ERROR) {
      return Fail(ErrorCode::kResourceExhausted, "no memory to decompress {}", name_);
    } else if (result != Z_OK) {
      return Fail(ErrorCode::kInvalidArgument, "{} cannot be decompressed as gzip: {}", name_,
                  z.msg == nullptr ? "unknown format" : z.msg);
    }
  }
  return into.size() - z.avail_out;
}

}  // namespace sabia::channels
