#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <utility>

#include "base/encoding.h"
#include "s3/policy.h"
#include "s3/policy_actions.h"
#include "s3/policy_match.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kBucketArn = "arn:aws:s3:::";
constexpr std::size_t kAccountDigits = 12;
constexpr std::size_t kCanonicalDigits = 64;

tl::unexpected<wire::AwsError> Malformed(std::string message) {
  return tl::unexpected<wire::AwsError>(
      wire::AwsError{"MalformedPolicy", 400, std::move(message), {}});
}

// One string or a list of them.
wire::AwsResult<std::vector<std::string>> ParseStrings(const json::value& element) {
  std::vector<std::string> out;
  if (element.is_string()) {
    out.emplace_back(View(element.get_string()));
  } else if (element.is_array()) {
    for (const json::value& each : element.get_array()) {
      if (!each.is_string()) return Malformed("Invalid policy syntax.");
      out.emplace_back(View(each.get_string()));
    }
  } else {
    return Malformed("Invalid policy syntax.");
  }
  if (out.empty()) return Malformed("Invalid policy syntax.");
  return out;
}

bool AllDigits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsAccount(std::string_view text) { return text.size() == kAccountDigits && AllDigits(text); }

// arn:aws:iam::<account>:root, :user/…, :role/…, arn:aws:sts::<account>:assumed-role/…/…
bool IsPrincipalArn(std::string_view text) {
  const bool iam = text.starts_with("arn:aws:iam::");
  const bool sts = text.starts_with("arn:aws:sts::");
  constexpr std::size_t kHead = std::string_view("arn:aws:iam::").size();
  if ((!iam && !sts) || text.size() < kHead + kAccountDigits + 2) return false;
  if (!IsAccount(text.substr(kHead, kAccountDigits)) || text[kHead + kAccountDigits] != ':') {
    return false;
  }
  const std::string_view name = text.substr(kHead + kAccountDigits + 1);
  if (HasWildcard(name)) return false;
  const auto below = [&](std::string_view kind) {
    return name.starts_with(kind) && name.size() > kind.size();
  };
  return iam ? name == "root" || below("user/") || below("role/")
             : below("assumed-role/") || below("federated-user/");
}

wire::AwsResult<PolicyPrincipal> ParsePrincipal(std::string_view type, const std::string& value) {
  using enum PolicyPrincipal::Kind;
  if (value == "*" && (type == "AWS" || type == "CanonicalUser")) return PolicyPrincipal{};
  if (type == "AWS" && (IsAccount(value) || IsPrincipalArn(value))) {
    return PolicyPrincipal{kAws, value};
  }
  const bool hex = value.size() == kCanonicalDigits &&
                   value.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (type == "CanonicalUser" && hex) return PolicyPrincipal{kCanonicalUser, value};
  if (type == "Service" && value.ends_with(".amazonaws.com")) {
    return PolicyPrincipal{kService, value};
  }
  return Malformed("Invalid principal in policy");
}

wire::AwsResult<std::vector<PolicyPrincipal>> ParsePrincipals(const json::value& element) {
  if (element.is_string()) {
    if (element.get_string() != "*") return Malformed("Invalid principal in policy");
    return std::vector<PolicyPrincipal>{{}};
  }
  if (!element.is_object() || element.get_object().empty()) {
    return Malformed("Invalid policy syntax.");
  }
  std::vector<PolicyPrincipal> out;
  for (const auto& entry : element.get_object()) {
    ASSIGN_OR_RETURN(const auto values, ParseStrings(entry.value()));
    for (const std::string& value : values) {
      ASSIGN_OR_RETURN(out.emplace_back(), ParsePrincipal(entry.key(), value));
    }
  }
  return out;
}

wire::AwsResult<std::vector<std::string>> ParseActions(const json::value& element) {
  ASSIGN_OR_RETURN(std::vector<std::string> out, ParseStrings(element));
  for (std::string& action : out) {
    action = ToLower(action);
    if (!KindsOf(action).known) return Malformed("Policy has invalid action");
  }
  return out;
}

wire::AwsResult<std::vector<std::string>> ParseResources(const json::value& element,
                                                         std::string_view bucket) {
  ASSIGN_OR_RETURN(std::vector<std::string> out, ParseStrings(element));
  const std::string own = fmt::format("{}{}", kBucketArn, bucket);
  for (const std::string& resource : out) {
    const bool good =
        resource.starts_with(own) && (resource.size() == own.size() ||
                                      resource[own.size()] == '/' || resource[own.size()] == '*');
    if (!good) return Malformed("Policy has invalid resource");
    RETURN_IF_ERROR(CheckVariables(resource));
  }
  return out;
}

// Every action needs a resource of its kind: a bucket has no slash, an object has one.
wire::AwsResult<void> CheckKinds(const PolicyStatement& statement) {
  if (statement.actions_negated || statement.resources_negated) return {};
  const auto any = [&](bool object) {
    return std::any_of(statement.resources.begin(), statement.resources.end(),
                       [&](const std::string& resource) {
                         const bool slash = resource.find('/') != std::string::npos;
                         return slash == object || (!slash && HasWildcard(resource));
                       });
  };
  const bool bucket = any(false), object = any(true);
  for (const std::string& action : statement.actions) {
    const ActionKinds kinds = KindsOf(action);
    if ((kinds.on_bucket && bucket) || (kinds.on_object && object)) continue;
    return Malformed("Action does not apply to any resource(s) in statement");
  }
  return {};
}

tl::unexpected<wire::AwsError> Missing(std::string_view field) {
  return Malformed(fmt::format("Missing required field {}", field));
}

wire::AwsResult<void> CheckFields(const json::object& statement) {
  constexpr std::array kFields =
      std::to_array<std::string_view>({"Sid", "Effect", "Principal", "Action", "NotAction",
                                       "Resource", "NotResource", "Condition"});
  for (const auto& entry : statement) {
    if (entry.key() == "NotPrincipal") {
      return Malformed(
          "NotPrincipal is not supported here; use Principal \"*\" and a Condition on "
          "aws:PrincipalArn");
    }
    if (std::find(kFields.begin(), kFields.end(), std::string_view(entry.key())) == kFields.end()) {
      return Malformed(fmt::format("Unknown field {}", std::string_view(entry.key())));
    }
  }
  if (!statement.contains("Effect")) return Missing("Effect");
  if (!statement.contains("Principal")) return Missing("Principal");
  if (!statement.contains("Action") && !statement.contains("NotAction")) return Missing("Action");
  if (!statement.contains("Resource") && !statement.contains("NotResource")) {
    return Missing("Resource");
  }
  const bool twice = (statement.contains("Action") && statement.contains("NotAction")) ||
                     (statement.contains("Resource") && statement.contains("NotResource"));
  if (twice) return Malformed("Invalid policy syntax.");
  return {};
}

wire::AwsResult<PolicyStatement> ParseStatement(const json::value& element,
                                                std::string_view bucket) {
  if (!element.is_object()) return Malformed("Invalid policy syntax.");
  const json::object& statement = element.get_object();
  RETURN_IF_ERROR(CheckFields(statement));
  if (statement.contains("Sid") && !statement.at("Sid").is_string()) {
    return Malformed("Invalid policy syntax.");
  }
  PolicyStatement out;
  const std::string effect = GetString(statement, "Effect");
  if (effect != "Allow" && effect != "Deny") {
    return Malformed(fmt::format("Invalid effect: {}", effect));
  }
  out.allow = effect == "Allow";
  ASSIGN_OR_RETURN(out.principals, ParsePrincipals(statement.at("Principal")));
  out.actions_negated = statement.contains("NotAction");
  ASSIGN_OR_RETURN(out.actions,
                   ParseActions(statement.at(out.actions_negated ? "NotAction" : "Action")));
  out.resources_negated = statement.contains("NotResource");
  ASSIGN_OR_RETURN(
      out.resources,
      ParseResources(statement.at(out.resources_negated ? "NotResource" : "Resource"), bucket));
  RETURN_IF_ERROR(CheckKinds(out));
  if (const json::value* const conditions = statement.if_contains("Condition")) {
    ASSIGN_OR_RETURN(out.conditions, ParseConditions(*conditions));
  }
  return out;
}

wire::AwsResult<bool> ParseVersion(const json::object& document) {
  const json::value* const version = document.if_contains("Version");
  if (version == nullptr) return false;  // the oldest
  if (version->is_string() && version->get_string() == "2012-10-17") return true;
  if (version->is_string() && version->get_string() == "2008-10-17") return false;
  return Malformed("The policy must contain a valid version string");
}

// Finds objects that have two members of one name: a JSON reader keeps the last of them, so what a
// person sees first would not count. The names are those that Boost.JSON calls.
struct DuplicateFinder {
  using ErrorCode = boost::system::error_code;
  static constexpr std::size_t max_object_size = kPolicyBytesMax;
  static constexpr std::size_t max_array_size = kPolicyBytesMax;
  static constexpr std::size_t max_key_size = kPolicyBytesMax;
  static constexpr std::size_t max_string_size = kPolicyBytesMax;

  std::vector<std::vector<std::string>> names;  // of the objects that are open
  std::string partial;
  bool found = false;

  bool on_object_begin(ErrorCode&) {
    names.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, ErrorCode&) {
    names.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, ErrorCode&) {
    partial += part;
    return true;
  }
  bool on_key(json::string_view rest, std::size_t, ErrorCode&) {
    partial += rest;
    auto& level = names.back();
    found = found || std::find(level.begin(), level.end(), partial) != level.end();
    level.push_back(std::exchange(partial, {}));
    return true;
  }
  bool on_document_begin(ErrorCode&) { return true; }
  bool on_document_end(ErrorCode&) { return true; }
  bool on_array_begin(ErrorCode&) { return true; }
  bool on_array_end(std::size_t, ErrorCode&) { return true; }
  bool on_string_part(json::string_view, std::size_t, ErrorCode&) { return true; }
  bool on_string(json::string_view, std::size_t, ErrorCode&) { return true; }
  bool on_number_part(json::string_view, ErrorCode&) { return true; }
  bool on_int64(std::int64_t, json::string_view, ErrorCode&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, ErrorCode&) { return true; }
  bool on_double(double, json::string_view, ErrorCode&) { return true; }
  bool on_bool(bool, ErrorCode&) { return true; }
  bool on_null(ErrorCode&) { return true; }
  bool on_comment_part(json::string_view, ErrorCode&) { return true; }
  bool on_comment(json::string_view, ErrorCode&) { return true; }
};

bool HasDuplicates(std::string_view text) {
  json::basic_parser<DuplicateFinder> parser{json::parse_options()};
  boost::system::error_code error;
  parser.write_some(false, text.data(), text.size(), error);
  return parser.handler().found;
}

}  // namespace

wire::AwsResult<BucketPolicy> ParsePolicy(std::string_view text, std::string_view bucket) {
  if (text.size() > kPolicyBytesMax) {
    return wire::Refuse("PolicyTooLarge", 400, "Policy exceeds the maximum allowed document size.");
  }
  if (!text.starts_with('{')) {
    return Malformed("Policies must be valid JSON and the first byte must be '{'");
  }
  const auto document = ParseJsonObject(text);
  if (!document || HasDuplicates(text)) return Malformed("This policy contains invalid Json");
  for (const auto& entry : *document) {
    const std::string_view name = entry.key();
    if (name != "Version" && name != "Id" && name != "Statement") {
      return Malformed(fmt::format("Unknown field {}", name));
    }
  }
  BucketPolicy out;
  ASSIGN_OR_RETURN(out.variables, ParseVersion(*document));
  const json::value* const id = document->if_contains("Id");
  if (id != nullptr && !id->is_string()) return Malformed("Invalid policy syntax.");
  const json::value* const statements = document->if_contains("Statement");
  if (statements == nullptr) return Missing("Statement");
  if (statements->is_object()) {
    ASSIGN_OR_RETURN(out.statements.emplace_back(), ParseStatement(*statements, bucket));
    return out;
  }
  if (!statements->is_array() || statements->get_array().empty()) {
    return Malformed("Invalid policy syntax.");
  }
  for (const json::value& statement : statements->get_array()) {
    ASSIGN_OR_RETURN(out.statements.emplace_back(), ParseStatement(statement, bucket));
  }
  return out;
}

}  // namespace sabia::s3
