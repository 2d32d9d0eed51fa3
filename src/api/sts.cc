#include "api/sts.h"

#include <algorithm>
#include <cctype>

#include "api/stable_id.h"
#include "model/limits.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::CallContext;

struct Sts {
  const wire::CredentialAuthority& authority;
  env::Random& random;
};

json::object ToJson(const wire::TemporaryCredentials& credentials) {
  return {{"AccessKeyId", credentials.key.id},
          {"SecretAccessKey", credentials.key.secret},
          {"SessionToken", credentials.session_token},
          {"Expiration", ToUnixSeconds(credentials.expires)}};
}

wire::AwsResult<void> RefuseMembers(const json::object& request,
                                    std::initializer_list<std::string_view> members) {
  for (const std::string_view member : members) {
    const json::value* value = request.if_contains(member);
    if (value == nullptr || value->is_null() || (value->is_array() && value->get_array().empty()))
      continue;
    return wire::RefuseValidation(
        "{} is not supported: there are no policies and no MFA devices here", member);
  }
  return {};
}

AwsResult<json::object> GetCallerIdentity(const Sts&, const CallContext& context,
                                          const json::object&) {
  const std::string& arn = context.principal.arn;
  const std::size_t role = arn.find(":assumed-role/");
  std::string id = context.principal.account;
  if (role != std::string::npos) {
    const std::string path = arn.substr(role + std::string_view(":assumed-role/").size());
    const std::size_t slash = path.find('/');
    id = fmt::format("{}:{}", StableRoleId(path.substr(0, slash)),
                     path.substr(std::min(slash + 1, path.size())));
  }
  return json::object{{"UserId", id}, {"Account", context.principal.account}, {"Arn", arn}};
}

bool AllOf(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [more](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) ||
           more.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// "arn:aws:iam::<12 digits>:role/<path/><name>": returns <name>. The schema's pattern lets any
// printable text and line breaks through, and the ARN becomes part of a token.
AwsResult<std::string> RoleNameOf(const std::string& arn) {
  constexpr std::string_view kMark = ":role/";
  constexpr std::string_view kIam = ":iam::";
  const std::size_t iam = arn.find(kIam);
  const std::size_t role = arn.find(kMark);
  const bool good = arn.starts_with("arn:aws") && iam != std::string::npos &&
                    role != std::string::npos && role == iam + kIam.size() + 12 &&
                    AllOf(std::string_view(arn).substr(3, iam - 3), ":-") &&
                    std::all_of(arn.begin() + iam + kIam.size(), arn.begin() + role,
                                [](char c) { return c >= '0' && c <= '9'; }) &&
                    AllOf(std::string_view(arn).substr(role + kMark.size()), "+=,.@-_/");
  const std::string name = good ? arn.substr(arn.rfind('/') + 1) : std::string();
  if (name.empty())
    return wire::RefuseValidation("{} is invalid: RoleArn must be the ARN of an IAM role", arn);
  return name;
}

AwsResult<json::object> AssumeRole(const Sts& sts, const CallContext& context,
                                   const json::object& request) {
  RETURN_IF_ERROR(
      RefuseMembers(request, {"PolicyArns", "Policy", "Tags", "TransitiveTagKeys", "SerialNumber",
                              "TokenCode", "SourceIdentity", "ProvidedContexts"}));
  const std::string arn = GetString(request, "RoleArn");
  ASSIGN_OR_RETURN(const std::string role, RoleNameOf(arn));
  const Seconds duration(
      GetInt(request, "DurationSeconds", model::kAssumeRoleDurationDefault.count()));
  const std::string session = GetString(request, "RoleSessionName");
  if (!AllOf(session, "_+=,.@-")) {
    return wire::RefuseValidation("RoleSessionName '{}' may hold letters, digits and _+=,.@- only",
                                  session);
  }
  const auto minted = sts.authority.Mint({arn, session, context.now + duration}, sts.random);
  return json::object{
      {"Credentials", ToJson(minted)},
      {"AssumedRoleUser",
       json::object{{"AssumedRoleId", fmt::format("{}:{}", StableRoleId(role), session)},
                    {"Arn", minted.assumed_role_arn}}},
      {"PackedPolicySize", 0}};
}

AwsResult<json::object> GetSessionToken(const Sts& sts, const CallContext& context,
                                        const json::object& request) {
  RETURN_IF_ERROR(RefuseMembers(request, {"SerialNumber", "TokenCode"}));
  const Seconds duration(
      GetInt(request, "DurationSeconds", model::kSessionTokenDurationDefault.count()));
  const std::string arn = fmt::format("arn:aws:iam::{}:role/session", context.principal.account);
  const auto minted =
      sts.authority.Mint({arn, "session-token", context.now + duration}, sts.random);
  return json::object{{"Credentials", ToJson(minted)}};
}

}  // namespace

void RegisterSts(wire::ActionTable& table, const wire::CredentialAuthority& authority,
                 env::Random& random) {
  const Sts sts{authority, random};
  const auto add = [&](const char* action, auto function) {
    table.Add("sts", action,
              [sts, function](const CallContext& context, const json::object& request) {
                return function(sts, context, request);
              });
  };
  add("GetCallerIdentity", GetCallerIdentity);
  add("AssumeRole", AssumeRole);
  add("GetSessionToken", GetSessionToken);
}

}  // namespace sabia::api
