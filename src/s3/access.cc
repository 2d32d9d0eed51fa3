#include "s3/access.h"

#include <algorithm>

#include "base/encoding.h"
#include "s3/policy_actions.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kBucketArn = "arn:aws:s3:::";

std::string RootArn(std::string_view account) {
  return fmt::format("arn:aws:iam::{}:root", account);
}

Caller CallerOf(const wire::CallContext& context) {
  Caller out;
  out.anonymous = context.principal.anonymous;
  out.account = context.principal.account;
  if (out.anonymous) return out;
  out.canonical_id = OwnerId(context);
  out.arns.push_back(context.principal.arn);
  if (!context.principal.role_arn.empty()) out.arns.push_back(context.principal.role_arn);
  return out;
}

bool IsRoot(const Caller& caller) {
  return !caller.anonymous && caller.arns.size() == 1 && caller.arns[0] == RootArn(caller.account);
}

std::string ResourceOf(const S3Target& target) {
  return fmt::format("{}{}{}{}", kBucketArn, target.bucket, target.key.empty() ? "" : "/",
                     target.key);
}

// "127.0.0.1" of "127.0.0.1:40312", "::1" of "[::1]:40312".
std::string AddressOf(std::string_view peer) {
  std::string_view address = peer.substr(0, peer.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  return std::string(address);
}

using Value = std::optional<std::vector<std::string>>;

Value One(std::string_view text) { return std::vector<std::string>{std::string(text)}; }
Value OneIfAny(std::optional<std::string_view> text) { return text ? One(*text) : Value(); }

// What every request says of its caller and its moment.
Value CallerValue(const wire::CallContext& context, std::string_view key) {
  const wire::Principal& who = context.principal;
  if (key == "aws:principaltype") {
    return One(who.anonymous ? "Anonymous" : who.role_arn.empty() ? "Account" : "AssumedRole");
  }
  if (key == "aws:principalisawsservice") return One("false");
  if (key == "aws:requestedregion") return One(context.region);
  if (key == "aws:currenttime") return One(FormatIso8601Seconds(context.now));
  if (key == "aws:epochtime") {
    return One(std::to_string(ToUnixMillis(context.now) / Millis(Seconds(1)).count()));
  }
  if (who.anonymous) return std::nullopt;
  if (key == "aws:principalaccount") return One(who.account);
  if (key == "aws:principalarn") return One(who.role_arn.empty() ? who.arn : who.role_arn);
  return std::nullopt;
}

std::string_view AuthTypeOf(const S3Call& call) {
  return call.exchange.head().headers.Has("authorization") ? "REST-HEADER" : "REST-QUERY-STRING";
}

Value RequestValue(const S3Call& call, std::string_view key) {
  const wire::RequestHead& head = call.exchange.head();
  if (key == "aws:securetransport") return One(head.tls ? "true" : "false");
  if (key == "aws:sourceip") return One(AddressOf(head.peer));
  if (key == "aws:referer") return OneIfAny(head.headers.Find("referer"));
  if (key == "aws:useragent") return OneIfAny(head.headers.Find("user-agent"));
  if (key == "s3:versionid") return OneIfAny(call.query.Find("versionId"));
  if (key == "s3:prefix" || key == "s3:delimiter" || key == "s3:max-keys") {
    return OneIfAny(call.query.Find(key.substr(std::string_view("s3:").size())));
  }
  if (key.starts_with("s3:x-amz-")) {
    return OneIfAny(call.headers().Find(key.substr(std::string_view("s3:").size())));
  }
  if (call.context.principal.anonymous) return std::nullopt;
  if (key == "s3:authtype") return One(AuthTypeOf(call));
  if (key == "s3:signatureversion") {
    const bool second = call.query.Has("AWSAccessKeyId");
    return One(second ? "AWS" : "AWS4-HMAC-SHA256");
  }
  return std::nullopt;
}

// "s3:existingobjecttag/name": of the version that is asked for.
Value TagValue(ObjectStore& store, const ObjectName& object, std::string_view key) {
  constexpr std::string_view kPrefix = "s3:existingobjecttag/";
  if (!key.starts_with(kPrefix) || object.key.empty()) return std::nullopt;
  const auto info = store.Head(object.bucket, object.key, object.version);
  if (!info) return std::nullopt;
  const auto tag = info->tags.find(std::string(key.substr(kPrefix.size())));
  return tag == info->tags.end() ? Value() : One(tag->second);
}

struct Wish {
  std::string action;
  const S3Target& target;
  std::shared_ptr<const BucketRules> rules;
  const ConditionValues& values;
};

enum class Ruling { kAllowed, kDeniedByPolicy, kDenied };

Ruling Rule(const Caller& caller, const Wish& wish) {
  PolicyAnswer answer = PolicyAnswer::kSilent;
  if (wish.rules && wish.rules->policy) {
    answer =
        Evaluate(*wish.rules->policy, {caller, wish.action, ResourceOf(wish.target), wish.values});
  }
  if (answer == PolicyAnswer::kDeny) {
    // Otherwise a slip of the pen would lock everybody out for ever.
    const bool repairs = wish.action == "s3:GetBucketPolicy" ||
                         wish.action == "s3:PutBucketPolicy" ||
                         wish.action == "s3:DeleteBucketPolicy";
    return repairs && IsRoot(caller) ? Ruling::kAllowed : Ruling::kDeniedByPolicy;
  }
  if (!caller.anonymous) return Ruling::kAllowed;
  const bool restricted =
      wish.rules && wish.rules->public_policy && wish.rules->public_access.restrict_public_buckets;
  return answer == PolicyAnswer::kAllow && !restricted ? Ruling::kAllowed : Ruling::kDenied;
}

std::string NotAuthorized(std::string_view who, const Wish& wish, std::string_view why) {
  return fmt::format("User: {} is not authorized to perform: {} on resource: \"{}\" {}", who,
                     wish.action, ResourceOf(wish.target), why);
}

constexpr std::string_view kExplicitly = "with an explicit deny in a resource-based policy";

S3Result Judge(const S3Call& call, const Wish& wish) {
  switch (Rule(CallerOf(call.context), wish)) {
    case Ruling::kAllowed:
      return {};
    case Ruling::kDeniedByPolicy:
      if (call.context.principal.anonymous) break;
      return wire::Refuse("AccessDenied", 403, "{}",
                          NotAuthorized(call.context.principal.arn, wish, kExplicitly));
    case Ruling::kDenied:
      break;
  }
  return wire::Refuse("AccessDenied", 403, "Access Denied");
}

ConditionValues ValuesOf(const S3Call& call, ObjectName object) {
  return [&call, object = std::move(object)](std::string_view key) -> Value {
    if (key == "aws:resourceaccount" || key == "s3:resourceaccount") {
      return One(call.options.account);
    }
    if (Value value = CallerValue(call.context, key)) return value;
    if (Value value = TagValue(call.store, object, key)) return value;
    return RequestValue(call, key);
  };
}

ObjectName NameOf(const S3Call& call) {
  ObjectName out{call.target.bucket, call.target.key};
  if (const auto version = ReadVersion(call)) out.version = *version;
  return out;
}

// What an operation does beside what it is named for.
std::vector<std::string> MoreActions(const S3Call& call, std::string_view operation) {
  const bool versioned = call.query.Has("versionId");
  if (operation == "GetObjectAttributes") return {ActionOf("GetObject", versioned)};
  const bool writes =
      operation == "PutObject" || operation == "CopyObject" || operation == "CreateMultipartUpload";
  if (writes && call.headers().Has("x-amz-tagging")) return {"s3:PutObjectTagging"};
  return {};
}

// Without a policy everybody of the account may do everything, and nobody else anything.
bool NothingToAsk(const S3Call& call) {
  return !call.context.principal.anonymous && !(call.rules && call.rules->policy);
}

}  // namespace

S3Result Authorize(const S3Call& call, std::string_view operation) {
  if (NothingToAsk(call)) return {};
  const bool policy = call.rules && call.rules->policy;
  // Each of its entries is judged by itself.
  if (operation == "DeleteObjects" && policy) return {};
  const ConditionValues values = ValuesOf(call, NameOf(call));
  std::vector<std::string> actions = MoreActions(call, operation);
  actions.insert(actions.begin(), ActionOf(operation, call.query.Has("versionId")));
  for (std::string& action : actions) {
    RETURN_IF_ERROR(Judge(call, {std::move(action), call.target, call.rules, values}));
  }
  return {};
}

S3Result AuthorizeObject(const S3Call& call, const ObjectAccess& access) {
  std::shared_ptr<const BucketRules> rules = call.rules;
  if (access.target.bucket != call.target.bucket) {
    rules = nullptr;
    const auto bucket = call.store.GetBucket(access.target.bucket);
    if (bucket && !(*bucket)->settings.empty()) rules = call.rules_cache->Get(*bucket);
  }
  if (!call.context.principal.anonymous && !(rules && rules->policy)) return {};
  const ConditionValues values =
      ValuesOf(call, {access.target.bucket, access.target.key, access.version});
  return Judge(
      call, {ActionOf(access.operation, access.version.has_value()), access.target, rules, values});
}

bool MayList(const S3Call& call) {
  if (NothingToAsk(call)) return true;
  const S3Target bucket{call.target.bucket, ""};
  const ConditionValues values = ValuesOf(call, {bucket.bucket, ""});
  return Judge(call, {"s3:ListBucket", bucket, call.rules, values}).has_value();
}

tl::unexpected<wire::AwsError> RefusePublicPolicy(const S3Call& call) {
  const ConditionValues none = [](std::string_view) { return Value(); };
  return wire::Refuse(
      "AccessDenied", 403, "{}",
      NotAuthorized(call.context.principal.arn, {"s3:PutBucketPolicy", call.target, nullptr, none},
                    "because public policies are prevented by the BlockPublicPolicy setting in S3 "
                    "Block Public Access."));
}

bool LocksOut(const S3Call& call, const BucketPolicy& policy) {
  auto rules = std::make_shared<BucketRules>();
  rules->policy = policy;
  const ConditionValues values = ValuesOf(call, {call.target.bucket, ""});
  return Rule(CallerOf(call.context), {"s3:PutBucketPolicy", call.target, rules, values}) !=
         Ruling::kAllowed;
}

objects::ReadCheck ReadCheckOf(const RoleAccess& access, const std::string& role_arn) {
  wire::CallContext context;
  context.principal.account = access.account;
  context.principal.arn = role_arn;
  context.principal.role_arn = role_arn;
  context.region = access.region;
  const auto cache = std::make_shared<BucketRulesCache>();
  return [access, context, cache](const objects::ReadWish& wish) mutable -> Status {
    const auto bucket = access.store.GetBucket(wish.bucket);
    if (!bucket || (*bucket)->settings.empty()) return {};
    const auto rules = cache->Get(*bucket);
    if (!rules->policy) return {};
    context.now = access.clock.Wall();
    const bool lists = wish.kind == objects::ReadWish::Kind::kList;
    const S3Target target{std::string(wish.bucket), lists ? "" : std::string(wish.name)};
    const ConditionValues values = [&](std::string_view key) -> Value {
      if (key == "aws:resourceaccount" || key == "s3:resourceaccount") return One(access.account);
      // Bytes of this machine reach the job without a network.
      if (key == "aws:securetransport") return One("true");
      if (key == "s3:prefix" && lists) return One(wish.name);
      if (Value value = CallerValue(context, key)) return value;
      return TagValue(access.store, {target.bucket, target.key}, key);
    };
    const Wish question{lists ? "s3:ListBucket" : "s3:GetObject", target, rules, values};
    if (Rule(CallerOf(context), question) == Ruling::kAllowed) return {};
    return Fail(ErrorCode::kDenied, "{}",
                NotAuthorized(context.principal.arn, question, kExplicitly));
  };
}

}  // namespace sabia::s3
