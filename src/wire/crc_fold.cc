#include "wire/crc_fold.h"

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sabia::wire {

#if defined(__x86_64__)

namespace {

[[gnu::target("pclmul,sse2")]] inline __m128i Load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

[[gnu::target("pclmul,sse2")]] inline __m128i FactorsOf(const FoldFactors& factors) {
  return _mm_set_epi64x(static_cast<long long>(factors.high), static_cast<long long>(factors.low));
}

[[gnu::target("pclmul,sse2")]] inline __m128i Moved(__m128i lane, __m128i factors, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(lane, factors, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

}  // namespace

bool CanFold() {
  static const bool kCan = __builtin_cpu_supports("pclmul") != 0;
  return kCan;
}

[[gnu::target("pclmul,sse2")]] void Fold(const FoldPlan& plan, std::uint64_t crc,
                                         std::string_view data, char* out) {
  CHECK(data.size() >= kFoldLeast && data.size() % kFolded == 0);
  const char* at = data.data();
  const char* const end = at + data.size();
  __m128i lanes[4] = {Load(at), Load(at + 16), Load(at + 32), Load(at + 48)};
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi64_si128(static_cast<long long>(crc)));
  at += kFoldLeast;
  const __m128i by_64 = FactorsOf(plan.by_64_bytes);
  for (; end - at >= 64; at += 64) {
    for (int i = 0; i < 4; ++i) lanes[i] = Moved(lanes[i], by_64, Load(at + 16 * i));
  }
  const __m128i by_16 = FactorsOf(plan.by_16_bytes);
  __m128i sum = lanes[0];
  for (int i = 1; i < 4; ++i) sum = Moved(sum, by_16, lanes[i]);
  for (; at != end; at += 16) sum = Moved(sum, by_16, Load(at));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), sum);
}

#else

bool CanFold() { return false; }
void Fold(const FoldPlan&, std::uint64_t, std::string_view, char*) {
  CHECK_MSG(false, "there is no carry-less multiplication");
}

#endif

}  // namespace sabia::wire
