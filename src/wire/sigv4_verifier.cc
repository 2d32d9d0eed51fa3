#include "wire/sigv4_verifier.h"

#include <algorithm>
#include <mutex>

#include "base/encoding.h"

namespace sabia::wire {
namespace {

constexpr Millis kSkewMax = std::chrono::minutes(15);
constexpr std::size_t kKeysMax = 1024;

// x-amz-* fields steer what a request does: S3 wants every one of them signed.
bool MustBeSigned(std::string_view name, bool presigned) {
  if (name.size() < 6 || !EqualsIgnoreCase(name.substr(0, 6), "x-amz-")) return false;
  return !(presigned && EqualsIgnoreCase(name, "x-amz-content-sha256"));
}

AuthResult<void> CheckAllSigned(const RequestHead& head, const SignatureClaim& claim) {
  std::string unsigned_names;
  for (const auto& field : head.headers.fields()) {
    if (!MustBeSigned(field.first, claim.presigned)) continue;
    const std::string name = ToLower(field.first);
    if (std::binary_search(claim.signed_fields.begin(), claim.signed_fields.end(), name)) continue;
    unsigned_names.append(unsigned_names.empty() ? "" : ", ").append(name);
  }
  if (unsigned_names.empty()) return {};
  return tl::unexpected<AuthError>(
      AuthError{AuthProblem::kUnsignedFields, "", {{"HeadersNotSigned", unsigned_names}}});
}

tl::unexpected<AuthError> Skewed(AuthProblem problem, const SignatureClaim& claim, WallTime now) {
  const bool old = problem == AuthProblem::kTooOld;
  const WallTime bound = old ? now - kSkewMax : now + kSkewMax;
  std::string message = fmt::format(
      "{}: {} is {} {} ({} {} 15 min.)", old ? "Signature expired" : "Signature not yet current",
      claim.amz_date, old ? "now earlier than" : "still later than", FormatBasicIso8601(bound),
      FormatBasicIso8601(now), old ? "-" : "+");
  return tl::unexpected<AuthError>(AuthError{problem,
                                             std::move(message),
                                             {{"RequestTime", claim.amz_date},
                                              {"ServerTime", FormatIso8601Seconds(now)},
                                              {"MaxAllowedSkewMilliseconds", "900000"}}});
}

tl::unexpected<AuthError> UrlOutOfTime(AuthProblem problem, const SignatureClaim& claim,
                                       WallTime now) {
  const WallTime end = claim.time + Seconds(claim.expires_seconds);
  return tl::unexpected<AuthError>(
      AuthError{problem,
                fmt::format("Signature {}: {} is valid for {} seconds, and now is {}",
                            problem == AuthProblem::kUrlExpired ? "expired" : "not yet current",
                            claim.amz_date, claim.expires_seconds, FormatBasicIso8601(now)),
                {{"X-Amz-Expires", std::to_string(claim.expires_seconds)},
                 {"Expires", FormatIso8601Seconds(end)},
                 {"ServerTime", FormatIso8601Seconds(now)}}});
}

}  // namespace

AuthResult<void> SigV4Verifier::CheckTime(const SignatureClaim& claim) const {
  const WallTime now = clock_.Wall();
  if (claim.presigned) {
    if (claim.time > now + kSkewMax) return UrlOutOfTime(AuthProblem::kUrlNotYetValid, claim, now);
    if (claim.time + Seconds(claim.expires_seconds) < now) {
      return UrlOutOfTime(AuthProblem::kUrlExpired, claim, now);
    }
    return {};
  }
  if (claim.time < now - kSkewMax) return Skewed(AuthProblem::kTooOld, claim, now);
  if (claim.time > now + kSkewMax) return Skewed(AuthProblem::kTooNew, claim, now);
  return {};
}

Digest256 SigV4Verifier::KeyFor(const std::string& secret, const SigV4Scope& scope) {
  std::string name = fmt::format("{}\n{}\n{}\n{}", secret, scope.date, scope.region, scope.service);
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = keys_.find(name); found != keys_.end()) return found->second;
  }
  const Digest256 key = SigningKey(secret, scope);
  const std::unique_lock lock(mutex_);
  if (keys_.size() >= kKeysMax) keys_.clear();
  keys_.emplace(std::move(name), key);
  return key;
}

AuthResult<VerifiedSignature> SigV4Verifier::Verify(const RequestHead& head,
                                                    const SignatureClaim& claim,
                                                    std::string_view payload_hash) {
  auto known = authority_.Find(claim.access_key_id, claim.session_token, clock_.Wall());
  if (!known) {
    AuthError error = std::move(known).error();
    if (error.problem == AuthProblem::kUnknownKey) {
      error.details.emplace_back("AWSAccessKeyId", claim.access_key_id);
    }
    return tl::unexpected<AuthError>(std::move(error));
  }
  if (auto timely = CheckTime(claim); !timely)
    return tl::make_unexpected(std::move(timely).error());
  if (claim.scope.service == "s3") {
    if (auto all = CheckAllSigned(head, claim); !all)
      return tl::make_unexpected(std::move(all).error());
  }
  const Digest256 key = KeyFor(known->secret, claim.scope);
  const CanonicalInput input{head.method, head.raw_path, head.raw_query, head.headers};
  const std::string canonical = CanonicalRequest(input, claim, payload_hash);
  const std::string to_sign = StringToSign(claim.amz_date, claim.scope.ToString(), canonical);
  if (!EqualInConstantTime(Hex(HmacSha256(key, to_sign)), claim.signature)) {
    return tl::unexpected<AuthError>(AuthError{AuthProblem::kMismatch,
                                               "",
                                               {{"AWSAccessKeyId", claim.access_key_id},
                                                {"StringToSign", to_sign},
                                                {"SignatureProvided", claim.signature},
                                                {"CanonicalRequest", canonical}}});
  }
  return VerifiedSignature{std::move(known->principal), key};
}

}  // namespace sabia::wire
