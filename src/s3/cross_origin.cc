#include "s3/actions.h"
#include "s3/cors.h"
#include "s3/settings.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

tl::unexpected<wire::AwsError> Forbid(const S3Call& call, std::string_view method,
                                      std::string_view why) {
  auto refusal = wire::Refuse("AccessForbidden", 403, "CORSResponse: {}", why);
  refusal.value().details = {{"Method", std::string(method)},
                             {"ResourceType", call.target.key.empty() ? "BUCKET" : "OBJECT"}};
  return refusal;
}

}  // namespace

S3Result Preflight(S3Call& call) {
  ASSIGN_OR_RETURN(const CorsQuestion question, ReadPreflight(call.headers()));
  if (!call.rules || call.rules->cors.empty()) {
    return Forbid(call, question.method, "CORS is not enabled for this bucket.");
  }
  const CorsRule* const rule = MatchCors(call.rules->cors, question);
  if (rule == nullptr) {
    return Forbid(
        call, question.method,
        "This CORS request is not allowed. This is usually because the evaluation of "
        "Origin, request method / Access-Control-Request-Method or "
        "Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.");
  }
  return Answer(call, 200, CorsHeaders(*rule, question));
}

wire::Headers CrossOriginHeaders(const S3Call& call) {
  const std::string_view origin = call.headers().Get("origin");
  if (origin.empty() || !call.rules || call.rules->cors.empty()) return {};
  const CorsQuestion question{origin, call.exchange.head().method, {}};
  const CorsRule* const rule = MatchCors(call.rules->cors, question);
  return rule == nullptr ? wire::Headers() : CorsHeaders(*rule, question);
}

S3Result GetBucketCors(S3Call& call) { return AnswerSetting(call, kCorsSetting); }

S3Result PutBucketCors(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const std::vector<CorsRule> rules, ParseCors(document));
  return PutSetting(call, kCorsSetting, WriteCors(rules));
}

S3Result DeleteBucketCors(S3Call& call) { return DeleteSetting(call, kCorsSetting); }

}  // namespace sabia::s3
