#include "s3/cors.h"

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "s3/xml.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kRulesMax = 100;
constexpr std::size_t kIdCharactersMax = 255;
constexpr std::array<std::string_view, 5> kMethods = {"GET", "PUT", "HEAD", "POST", "DELETE"};

bool IsMethod(std::string_view name) {
  return std::find(kMethods.begin(), kMethods.end(), name) != kMethods.end();
}

wire::AwsResult<std::vector<std::string>> Patterns(const XmlNode& rule, std::string_view name) {
  std::vector<std::string> out;
  for (const XmlNode* const node : rule.All(name)) {
    if (std::count(node->text.begin(), node->text.end(), '*') > 1) {
      return wire::Refuse("InvalidRequest", 400, "{} \"{}\" can not have more than one wildcard.",
                          name, node->text);
    }
    if (std::any_of(node->text.begin(), node->text.end(),
                    [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
      return MalformedXml();
    }
    out.push_back(node->text);
  }
  return out;
}

wire::AwsResult<CorsRule> ParseRule(const XmlNode& node) {
  RETURN_IF_ERROR(OnlyChildren(node, {"ID", "AllowedOrigin", "AllowedMethod", "AllowedHeader",
                                      "ExposeHeader", "MaxAgeSeconds"}));
  RETURN_IF_ERROR(AtMostOnce(node, {"ID", "MaxAgeSeconds"}));
  CorsRule out;
  out.id = node.Get("ID");
  if (out.id.size() > kIdCharactersMax) return MalformedXml();
  ASSIGN_OR_RETURN(out.origins, Patterns(node, "AllowedOrigin"));
  ASSIGN_OR_RETURN(out.headers, Patterns(node, "AllowedHeader"));
  ASSIGN_OR_RETURN(out.exposed, Patterns(node, "ExposeHeader"));
  for (const std::string& header : out.exposed) {
    if (header.find('*') == std::string::npos) continue;
    return wire::Refuse("InvalidRequest", 400,
                        "ExposeHeader \"{}\" contains wildcard. We currently do not support "
                        "wildcard for ExposeHeader.",
                        header);
  }
  for (const XmlNode* const method : node.All("AllowedMethod")) {
    if (!IsMethod(method->text)) {
      return wire::Refuse("InvalidRequest", 400,
                          "Found unsupported HTTP method in CORS config. Unsupported method is {}",
                          method->text);
    }
    out.methods.push_back(method->text);
  }
  if (out.origins.empty() || out.methods.empty()) return MalformedXml();
  if (const XmlNode* const age = node.Find("MaxAgeSeconds")) {
    ASSIGN_OR_RETURN(out.max_age_seconds, WholeNumber(*age, 0));
  }
  return out;
}

// One "*" stands for any run of characters.
bool MatchesPattern(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  const std::string_view head = pattern.substr(0, star);
  const std::string_view tail = pattern.substr(star + 1);
  return text.size() >= head.size() + tail.size() && text.starts_with(head) && text.ends_with(tail);
}

const std::string* FindOrigin(const CorsRule& rule, std::string_view origin) {
  for (const std::string& pattern : rule.origins) {
    if (MatchesPattern(pattern, origin)) return &pattern;
  }
  return nullptr;
}

bool AllowsHeader(const CorsRule& rule, std::string_view header) {
  return std::any_of(rule.headers.begin(), rule.headers.end(), [&](const std::string& pattern) {
    return MatchesPattern(ToLower(pattern), header);
  });
}

std::string Joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

}  // namespace

wire::AwsResult<std::vector<CorsRule>> ParseCors(std::string_view document) {
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(document, "CORSConfiguration"));
  RETURN_IF_ERROR(OnlyChildren(root, {"CORSRule"}));
  if (root.children.empty() || root.children.size() > kRulesMax) return MalformedXml();
  std::vector<CorsRule> out;
  for (const XmlNode& node : root.children) {
    ASSIGN_OR_RETURN(CorsRule rule, ParseRule(node));
    out.push_back(std::move(rule));
  }
  return out;
}

std::string WriteCors(const std::vector<CorsRule>& rules) {
  XmlWriter xml("CORSConfiguration");
  const auto write = [&](std::string_view name, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) xml.Element(name, text);
  };
  for (const CorsRule& rule : rules) {
    xml.Open("CORSRule");
    if (!rule.id.empty()) xml.Element("ID", rule.id);
    write("AllowedHeader", rule.headers);
    write("AllowedMethod", rule.methods);
    write("AllowedOrigin", rule.origins);
    write("ExposeHeader", rule.exposed);
    if (rule.max_age_seconds) xml.Element("MaxAgeSeconds", std::to_string(*rule.max_age_seconds));
    xml.Close();
  }
  return xml.Finish();
}

wire::AwsResult<CorsQuestion> ReadPreflight(const wire::Headers& headers) {
  CorsQuestion out{headers.Get("origin"), headers.Get("access-control-request-method"), {}};
  if (out.origin.empty()) {
    return wire::Refuse("BadRequest", 400,
                        "Insufficient information. Origin request header needed.");
  }
  if (!IsMethod(out.method)) {
    return wire::Refuse("BadRequest", 400, "Invalid Access-Control-Request-Method: {}",
                        out.method.empty() ? "null" : out.method);
  }
  std::string_view list = headers.Get("access-control-request-headers");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string name = ToLower(list.substr(0, comma));
    std::erase_if(name, [](char c) { return c == ' ' || c == '\t'; });
    if (!name.empty()) out.headers.push_back(std::move(name));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return out;
}

const CorsRule* MatchCors(const std::vector<CorsRule>& rules, const CorsQuestion& question) {
  for (const CorsRule& rule : rules) {
    if (FindOrigin(rule, question.origin) == nullptr) continue;
    if (std::find(rule.methods.begin(), rule.methods.end(), question.method) ==
        rule.methods.end()) {
      continue;
    }
    if (std::all_of(question.headers.begin(), question.headers.end(),
                    [&](const std::string& header) { return AllowsHeader(rule, header); })) {
      return &rule;
    }
  }
  return nullptr;
}

wire::Headers CorsHeaders(const CorsRule& rule, const CorsQuestion& question) {
  wire::Headers out;
  const std::string* const origin = FindOrigin(rule, question.origin);
  const bool anyone = origin != nullptr && *origin == "*";
  out.Add("Access-Control-Allow-Origin", anyone ? "*" : std::string(question.origin));
  out.Add("Access-Control-Allow-Methods", Joined(rule.methods));
  if (!question.headers.empty()) {
    out.Add("Access-Control-Allow-Headers", Joined(question.headers));
  }
  if (!rule.exposed.empty()) out.Add("Access-Control-Expose-Headers", Joined(rule.exposed));
  if (rule.max_age_seconds) {
    out.Add("Access-Control-Max-Age", std::to_string(*rule.max_age_seconds));
  }
  if (!anyone) out.Add("Access-Control-Allow-Credentials", "true");
  out.Add("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method");
  return out;
}

}  // namespace sabia::s3
