#include "wire/request_signer.h"

#include <algorithm>

#include "base/encoding.h"
#include "wire/sigv4.h"

namespace sabia::wire {
namespace {

SignatureClaim ClaimOf(const SigningIdentity& identity, WallTime now) {
  SignatureClaim claim;
  claim.access_key_id = identity.access_key_id;
  claim.amz_date = FormatBasicIso8601(now);
  claim.time = now;
  claim.scope = {claim.amz_date.substr(0, 8), identity.region, identity.service};
  return claim;
}

void SignEverything(const Headers& headers, SignatureClaim& claim) {
  for (const auto& [name, value] : headers.fields()) claim.signed_fields.push_back(ToLower(name));
  std::sort(claim.signed_fields.begin(), claim.signed_fields.end());
  const auto end = std::unique(claim.signed_fields.begin(), claim.signed_fields.end());
  claim.signed_fields.erase(end, claim.signed_fields.end());
}

std::string SignatureOf(const OutgoingRequest& request, const SigningIdentity& identity,
                        const SignatureClaim& claim) {
  const CanonicalInput input{request.method, request.path, request.query, request.headers};
  const std::string canonical = CanonicalRequest(input, claim, request.payload_hash);
  const std::string to_sign = StringToSign(claim.amz_date, claim.scope.ToString(), canonical);
  return Hex(HmacSha256(SigningKey(identity.secret_access_key, claim.scope), to_sign));
}

std::string Joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out.append(out.empty() ? "" : ";").append(name);
  return out;
}

}  // namespace

void SignRequest(OutgoingRequest& request, const SigningIdentity& identity, WallTime now) {
  SignatureClaim claim = ClaimOf(identity, now);
  request.headers.Set("X-Amz-Date", claim.amz_date);
  if (!identity.session_token.empty()) {
    request.headers.Set("X-Amz-Security-Token", identity.session_token);
  }
  if (identity.service == "s3") request.headers.Set("x-amz-content-sha256", request.payload_hash);
  SignEverything(request.headers, claim);
  request.headers.Set(
      "Authorization",
      fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                  identity.access_key_id, claim.scope.ToString(), Joined(claim.signed_fields),
                  SignatureOf(request, identity, claim)));
}

std::string PresignQuery(const OutgoingRequest& request, const SigningIdentity& identity,
                         WallTime now, Seconds expires) {
  SignatureClaim claim = ClaimOf(identity, now);
  SignEverything(request.headers, claim);
  OutgoingRequest unsigned_request = request;
  unsigned_request.payload_hash = kUnsignedPayload;
  std::string& query = unsigned_request.query;
  if (!query.empty()) query += '&';
  query += fmt::format(
      "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date={}&X-Amz-Expires={}&"
      "X-Amz-SignedHeaders={}",
      UriEncode(fmt::format("{}/{}", identity.access_key_id, claim.scope.ToString())),
      claim.amz_date, expires.count(), UriEncode(Joined(claim.signed_fields)));
  if (!identity.session_token.empty()) {
    query += "&X-Amz-Security-Token=" + UriEncode(identity.session_token);
  }
  return query + "&X-Amz-Signature=" + SignatureOf(unsigned_request, identity, claim);
}

}  // namespace sabia::wire
