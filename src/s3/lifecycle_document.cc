#include <set>

#include "base/time.h"
#include "s3/lifecycle.h"
#include "s3/tag_set.h"
#include "s3/xml.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kRulesMax = 1000;
constexpr std::size_t kIdCharactersMax = 255;
constexpr std::int64_t kNewerVersionsMax = 100;
constexpr std::int64_t kDaysMax = 2'147'483'647;

using Checked = wire::AwsResult<void>;

wire::AwsResult<std::int64_t> PositiveDays(const XmlNode& node, std::string_view action) {
  const auto days = WholeNumber(node, 1);
  if (days && *days <= kDaysMax) return days;
  return wire::Refuse("InvalidArgument", 400, "'{}' for {} action must be a positive integer",
                      node.name, action);
}

Checked AddTag(const XmlNode& node, Tags& tags) {
  RETURN_IF_ERROR(OnlyChildren(node, {"Key", "Value"}));
  if (!node.Has("Key") || !node.Has("Value") || node.Get("Key").empty()) return MalformedXml();
  if (tags.emplace(node.Get("Key"), node.Get("Value")).second) return {};
  return wire::Refuse("InvalidRequest", 400, "Duplicate Tag Keys are not allowed.");
}

// The members of <Filter> or of its <And>.
Checked ReadMembers(const XmlNode& node, LifecycleFilter& out) {
  RETURN_IF_ERROR(
      OnlyChildren(node, {"Prefix", "Tag", "ObjectSizeGreaterThan", "ObjectSizeLessThan"}));
  RETURN_IF_ERROR(AtMostOnce(node, {"Prefix", "ObjectSizeGreaterThan", "ObjectSizeLessThan"}));
  out.prefix = node.Get("Prefix");
  for (const XmlNode* const tag : node.All("Tag")) RETURN_IF_ERROR(AddTag(*tag, out.tags));
  if (const XmlNode* const larger = node.Find("ObjectSizeGreaterThan")) {
    ASSIGN_OR_RETURN(const std::int64_t bytes, WholeNumber(*larger, 0));
    out.larger_than = static_cast<std::uint64_t>(bytes);
  }
  if (const XmlNode* const smaller = node.Find("ObjectSizeLessThan")) {
    ASSIGN_OR_RETURN(const std::int64_t bytes, WholeNumber(*smaller, 1));
    out.smaller_than = static_cast<std::uint64_t>(bytes);
  }
  return {};
}

Checked ReadFilter(const XmlNode& rule, LifecycleRule& out) {
  const XmlNode* const filter = rule.Find("Filter");
  out.has_filter = filter != nullptr;
  if (filter == nullptr) {
    if (!rule.Has("Prefix")) return MalformedXml();
    out.filter.prefix = rule.Get("Prefix");
    return {};
  }
  if (rule.Has("Prefix") || filter->children.size() > 1) return MalformedXml();
  const XmlNode* const both = filter->Find("And");
  if (both == nullptr) return ReadMembers(*filter, out.filter);
  if (both->children.size() < 2) return MalformedXml();
  RETURN_IF_ERROR(ReadMembers(*both, out.filter));
  if (out.filter.larger_than && out.filter.smaller_than &&
      *out.filter.larger_than >= *out.filter.smaller_than) {
    return wire::Refuse("InvalidRequest", 400,
                        "'ObjectSizeLessThan' has to be a value greater than "
                        "'ObjectSizeGreaterThan'.");
  }
  return {};
}

Checked ReadExpiration(const XmlNode& node, LifecycleRule& out) {
  RETURN_IF_ERROR(OnlyChildren(node, {"Days", "Date", "ExpiredObjectDeleteMarker"}));
  if (node.children.size() != 1) return MalformedXml();
  const XmlNode& only = node.children.front();
  if (only.name == "Days") {
    ASSIGN_OR_RETURN(out.expire_days, PositiveDays(only, "Expiration"));
  } else if (only.name == "Date") {
    const auto date = ParseIso8601(only.text);
    if (!date) return MalformedXml();
    if (std::chrono::floor<std::chrono::days>(*date) != *date) {
      return wire::Refuse("InvalidArgument", 400, "'Date' must be at midnight GMT");
    }
    out.expire_date = *date;
  } else {
    ASSIGN_OR_RETURN(out.remove_lone_markers, Truth(only));
  }
  return {};
}

Checked ReadNoncurrent(const XmlNode& node, LifecycleRule& out) {
  RETURN_IF_ERROR(OnlyChildren(node, {"NoncurrentDays", "NewerNoncurrentVersions"}));
  const XmlNode* const days = node.Find("NoncurrentDays");
  if (days == nullptr) return MalformedXml();
  ASSIGN_OR_RETURN(out.noncurrent_days, PositiveDays(*days, "NoncurrentVersionExpiration"));
  if (const XmlNode* const newer = node.Find("NewerNoncurrentVersions")) {
    const auto count = WholeNumber(*newer, 1);
    if (!count || *count > kNewerVersionsMax) {
      return wire::Refuse("InvalidArgument", 400,
                          "'NewerNoncurrentVersions' for NoncurrentVersionExpiration action must "
                          "be an integer between 1 and {}",
                          kNewerVersionsMax);
    }
    out.newer_noncurrent = *count;
  }
  return {};
}

Checked ReadAbort(const XmlNode& node, LifecycleRule& out) {
  RETURN_IF_ERROR(OnlyChildren(node, {"DaysAfterInitiation"}));
  if (node.children.size() != 1) return MalformedXml();
  ASSIGN_OR_RETURN(out.abort_days,
                   PositiveDays(node.children.front(), "AbortIncompleteMultipartUpload"));
  return {};
}

Checked CheckTogether(const LifecycleRule& rule) {
  const bool sized = rule.filter.larger_than || rule.filter.smaller_than;
  if (rule.abort_days && (!rule.filter.tags.empty() || sized)) {
    return wire::Refuse("InvalidRequest", 400,
                        "AbortIncompleteMultipartUpload cannot be specified with {}.",
                        sized ? "Object Size" : "Tags");
  }
  if (rule.remove_lone_markers && (!rule.filter.tags.empty() || sized)) {
    return wire::Refuse("InvalidRequest", 400,
                        "ExpiredObjectDeleteMarker cannot be specified with {}.",
                        sized ? "Object Size" : "Tags");
  }
  return {};
}

wire::AwsResult<LifecycleRule> ParseRule(const XmlNode& node) {
  for (const std::string_view refused : {"Transition", "NoncurrentVersionTransition"}) {
    if (!node.Has(refused)) continue;
    return wire::Refuse("NotImplemented", 501,
                        "{} of a lifecycle rule is not implemented: all storage classes lie on "
                        "the same disk.",
                        refused);
  }
  RETURN_IF_ERROR(
      OnlyChildren(node, {"ID", "Status", "Filter", "Prefix", "Expiration",
                          "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"}));
  RETURN_IF_ERROR(
      AtMostOnce(node, {"ID", "Status", "Filter", "Prefix", "Expiration",
                        "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"}));
  LifecycleRule out;
  out.id = node.Get("ID");
  const std::string_view status = node.Get("Status");
  if (status != "Enabled" && status != "Disabled") return MalformedXml();
  out.enabled = status == "Enabled";
  RETURN_IF_ERROR(ReadFilter(node, out));
  const XmlNode* const expiration = node.Find("Expiration");
  const XmlNode* const noncurrent = node.Find("NoncurrentVersionExpiration");
  const XmlNode* const abort = node.Find("AbortIncompleteMultipartUpload");
  if (expiration == nullptr && noncurrent == nullptr && abort == nullptr) {
    return wire::Refuse("InvalidRequest", 400,
                        "At least one action needs to be specified in a rule");
  }
  if (expiration != nullptr) RETURN_IF_ERROR(ReadExpiration(*expiration, out));
  if (noncurrent != nullptr) RETURN_IF_ERROR(ReadNoncurrent(*noncurrent, out));
  if (abort != nullptr) RETURN_IF_ERROR(ReadAbort(*abort, out));
  RETURN_IF_ERROR(CheckTogether(out));
  return out;
}

void WriteFilter(XmlWriter& xml, const LifecycleRule& rule) {
  const LifecycleFilter& filter = rule.filter;
  if (!rule.has_filter) {
    xml.Element("Prefix", filter.prefix);
    return;
  }
  xml.Open("Filter");
  const std::size_t members = (filter.prefix.empty() ? 0U : 1U) + filter.tags.size() +
                              (filter.larger_than ? 1U : 0U) + (filter.smaller_than ? 1U : 0U);
  if (members > 1) xml.Open("And");
  if (!filter.prefix.empty() || members == 0) xml.Element("Prefix", filter.prefix);
  for (const auto& [key, value] : filter.tags) {
    xml.Open("Tag").Element("Key", key).Element("Value", value).Close();
  }
  if (filter.larger_than) {
    xml.Element("ObjectSizeGreaterThan", std::to_string(*filter.larger_than));
  }
  if (filter.smaller_than) {
    xml.Element("ObjectSizeLessThan", std::to_string(*filter.smaller_than));
  }
  if (members > 1) xml.Close();
  xml.Close();
}

void WriteActions(XmlWriter& xml, const LifecycleRule& rule) {
  if (rule.expire_days) {
    xml.Open("Expiration").Element("Days", std::to_string(*rule.expire_days)).Close();
  } else if (rule.expire_date) {
    xml.Open("Expiration").Element("Date", FormatIso8601(*rule.expire_date)).Close();
  } else if (rule.remove_lone_markers) {
    xml.Open("Expiration").Element("ExpiredObjectDeleteMarker", "true").Close();
  }
  if (rule.noncurrent_days) {
    xml.Open("NoncurrentVersionExpiration");
    if (rule.newer_noncurrent) {
      xml.Element("NewerNoncurrentVersions", std::to_string(*rule.newer_noncurrent));
    }
    xml.Element("NoncurrentDays", std::to_string(*rule.noncurrent_days)).Close();
  }
  if (rule.abort_days) {
    xml.Open("AbortIncompleteMultipartUpload");
    xml.Element("DaysAfterInitiation", std::to_string(*rule.abort_days)).Close();
  }
}

}  // namespace

wire::AwsResult<std::vector<LifecycleRule>> ParseLifecycle(std::string_view document,
                                                           std::string_view id_base) {
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(document, "LifecycleConfiguration"));
  RETURN_IF_ERROR(OnlyChildren(root, {"Rule"}));
  if (root.children.empty() || root.children.size() > kRulesMax) return MalformedXml();
  std::vector<LifecycleRule> out;
  std::set<std::string> ids;
  for (const XmlNode& node : root.children) {
    ASSIGN_OR_RETURN(LifecycleRule rule, ParseRule(node));
    if (rule.id.empty()) rule.id = fmt::format("{}-{}", id_base, out.size() + 1);
    if (rule.id.size() > kIdCharactersMax) {
      return wire::Refuse("InvalidArgument", 400, "ID length should not exceed allowed limit of {}",
                          kIdCharactersMax);
    }
    if (!ids.insert(rule.id).second) {
      return wire::Refuse("InvalidArgument", 400,
                          "Rule ID must be unique. Found same ID for one or more rules");
    }
    out.push_back(std::move(rule));
  }
  return out;
}

std::string WriteLifecycle(const std::vector<LifecycleRule>& rules) {
  XmlWriter xml("LifecycleConfiguration");
  for (const LifecycleRule& rule : rules) {
    xml.Open("Rule").Element("ID", rule.id);
    WriteFilter(xml, rule);
    xml.Element("Status", rule.enabled ? "Enabled" : "Disabled");
    WriteActions(xml, rule);
    xml.Close();
  }
  return xml.Finish();
}

}  // namespace sabia::s3
