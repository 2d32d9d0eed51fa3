#include "s3/xml.h"

#include <algorithm>

#include "base/check.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kDeleteKeysMax = 1000;

std::string_view Unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    return etag.substr(1, etag.size() - 2);
  }
  return etag;
}

wire::AwsResult<DeleteRequest::Entry> ParseDeleteEntry(const XmlNode& node) {
  DeleteRequest::Entry out;
  if (!node.Has("Key")) return MalformedXml();
  out.key = node.Get("Key");
  out.version_id = node.Get("VersionId");
  if (const XmlNode* const etag = node.Find("ETag")) out.etag = Unquoted(etag->text);
  if (const XmlNode* const time = node.Find("LastModifiedTime")) {
    auto parsed = ParseRfc1123(time->text);
    if (!parsed) parsed = ParseIso8601(time->text);
    if (!parsed) return MalformedXml();
    out.modified = *parsed;
  }
  if (const XmlNode* const size = node.Find("Size")) {
    ASSIGN_OR_RETURN(const std::int64_t bytes, WholeNumber(*size, 0));
    out.size = static_cast<std::uint64_t>(bytes);
  }
  return out;
}

wire::AwsResult<PartInfo> ParsePart(const XmlNode& node) {
  PartInfo out;
  for (const XmlNode& field : node.children) {
    if (field.name == "PartNumber") {
      ASSIGN_OR_RETURN(const std::int64_t number, WholeNumber(field, 1));
      if (number > kPartNumberMax) return MalformedXml();
      out.number = static_cast<int>(number);
    } else if (field.name == "ETag") {
      out.etag = Unquoted(field.text);
    } else if (field.name.starts_with("Checksum")) {
      const auto algorithm = ParseChecksumAlgorithm(std::string_view(field.name).substr(8));
      if (!algorithm) return MalformedXml();
      out.checksums.emplace(Name(*algorithm), field.text);
    }
  }
  if (out.number < 1 || out.etag.empty()) return MalformedXml();
  return out;
}

}  // namespace

XmlWriter::XmlWriter(std::string_view root, std::string_view name_space)
    : out_("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") {
  Open(root, name_space.empty() ? std::string() : fmt::format("xmlns=\"{}\"", name_space));
}

XmlWriter& XmlWriter::Open(std::string_view name, std::string_view attributes) {
  out_.append("<").append(name);
  if (!attributes.empty()) out_.append(" ").append(attributes);
  out_.append(">");
  open_.emplace_back(name);
  return *this;
}

XmlWriter& XmlWriter::Close() {
  CHECK(!open_.empty());
  out_.append("</").append(open_.back()).append(">");
  open_.pop_back();
  return *this;
}

XmlWriter& XmlWriter::Element(std::string_view name, std::string_view text) {
  out_.append("<").append(name).append(">");
  Escape(text);
  out_.append("</").append(name).append(">");
  return *this;
}

XmlWriter& XmlWriter::Text(std::string_view text) {
  Escape(text);
  return *this;
}

XmlWriter& XmlWriter::Raw(std::string_view xml) {
  out_.append(xml);
  return *this;
}

std::string XmlWriter::Finish() {
  while (!open_.empty()) Close();
  return std::move(out_);
}

void XmlWriter::Escape(std::string_view text) {
  // Nearly all text has nothing to escape.
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '&' && c != '<' && c != '>' && c != '"';
  };
  const auto special = std::find_if_not(text.begin(), text.end(), plain);
  out_.append(text.begin(), special);
  text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
  for (const char c : text) {
    switch (c) {
      case '&':
        out_.append("&amp;");
        break;
      case '<':
        out_.append("&lt;");
        break;
      case '>':
        out_.append("&gt;");
        break;
      case '"':
        out_.append("&quot;");
        break;
      case '\n':
      case '\t':
        out_.push_back(c);
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out_), "&#x{:x};", static_cast<unsigned>(c));
        } else {
          out_.push_back(c);
        }
    }
  }
}

wire::AwsResult<DeleteRequest> ParseDelete(std::string_view xml) {
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(xml, "Delete"));
  RETURN_IF_ERROR(OnlyChildren(root, {"Quiet", "Object"}));
  DeleteRequest out;
  out.quiet = root.Get("Quiet") == "true";
  for (const XmlNode* const node : root.All("Object")) {
    if (out.entries.size() == kDeleteKeysMax) return MalformedXml();
    ASSIGN_OR_RETURN(DeleteRequest::Entry entry, ParseDeleteEntry(*node));
    out.entries.push_back(std::move(entry));
  }
  if (out.entries.empty()) return MalformedXml();
  return out;
}

wire::AwsResult<std::vector<PartInfo>> ParseCompleteMultipart(std::string_view xml) {
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(xml, "CompleteMultipartUpload"));
  RETURN_IF_ERROR(OnlyChildren(root, {"Part"}));
  if (root.children.empty() || root.children.size() > static_cast<std::size_t>(kPartNumberMax)) {
    return MalformedXml();
  }
  std::vector<PartInfo> out;
  for (const XmlNode& node : root.children) {
    ASSIGN_OR_RETURN(PartInfo part, ParsePart(node));
    out.push_back(std::move(part));
  }
  return out;
}

wire::AwsResult<BucketConfiguration> ParseCreateBucket(std::string_view xml) {
  BucketConfiguration out;
  if (xml.empty()) return out;
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(xml, "CreateBucketConfiguration"));
  for (const XmlNode& child : root.children) {
    if (child.name != "LocationConstraint") {
      return wire::Refuse("NotImplemented", 501,
                          "{} of CreateBucketConfiguration is not implemented", child.name);
    }
    out.location = child.text;
  }
  return out;
}

}  // namespace sabia::s3
