#include "s3/xml.h"

#include <charconv>
#include <pugixml.hpp>

#include "base/check.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kDeleteKeysMax = 1000;

tl::unexpected<wire::AwsError> Malformed() {
  return wire::Refuse(
      "MalformedXML", 400,
      "The XML you provided was not well-formed or did not validate against our published schema");
}

// White space that is the whole content of an element is content: a key may be one blank.
constexpr unsigned kParse = pugi::parse_default | pugi::parse_ws_pcdata_single;

// The name without a prefix of a namespace.
std::string_view LocalName(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

// The root element, if it has this name; an empty node otherwise.
pugi::xml_node LoadRoot(pugi::xml_document& document, std::string_view xml, std::string_view name) {
  if (!document.load_buffer(xml.data(), xml.size(), kParse, pugi::encoding_utf8)) return {};
  const pugi::xml_node root = document.document_element();
  return LocalName(root) == name ? root : pugi::xml_node();
}

bool IsElement(const pugi::xml_node& node) { return node.type() == pugi::node_element; }

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

std::string XmlWriter::Finish() {
  while (!open_.empty()) Close();
  return std::move(out_);
}

void XmlWriter::Escape(std::string_view text) {
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
  pugi::xml_document document;
  const pugi::xml_node root = LoadRoot(document, xml, "Delete");
  if (!root) return Malformed();
  DeleteRequest out;
  for (const pugi::xml_node& child : root.children()) {
    if (LocalName(child) == "Quiet") out.quiet = std::string_view(child.child_value()) == "true";
    if (LocalName(child) != "Object") continue;
    if (out.entries.size() == kDeleteKeysMax) return Malformed();
    DeleteRequest::Entry entry;
    bool has_key = false;
    for (const pugi::xml_node& field : child.children()) {
      const std::string_view name = LocalName(field);
      if (name == "Key") {
        entry.key = field.child_value();
        has_key = true;
      } else if (name == "VersionId") {
        entry.version_id = field.child_value();
      } else if (IsElement(field)) {
        entry.conditional = true;
      }
    }
    if (!has_key) return Malformed();
    out.entries.push_back(std::move(entry));
  }
  if (out.entries.empty()) return Malformed();
  return out;
}

wire::AwsResult<std::vector<PartInfo>> ParseCompleteMultipart(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_node root = LoadRoot(document, xml, "CompleteMultipartUpload");
  if (!root) return Malformed();
  std::vector<PartInfo> out;
  for (const pugi::xml_node& child : root.children()) {
    if (!IsElement(child)) continue;
    if (LocalName(child) != "Part" || out.size() == static_cast<std::size_t>(kPartNumberMax)) {
      return Malformed();
    }
    PartInfo part;
    for (const pugi::xml_node& field : child.children()) {
      const std::string_view name = LocalName(field);
      std::string_view value = field.child_value();
      if (name == "PartNumber") {
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), part.number);
        if (error != std::errc() || end != value.data() + value.size()) return Malformed();
      } else if (name == "ETag") {
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
          value = value.substr(1, value.size() - 2);
        }
        part.etag = value;
      } else if (name.starts_with("Checksum")) {
        const auto algorithm = ParseChecksumAlgorithm(name.substr(8));
        if (!algorithm) return Malformed();
        part.checksums.emplace(Name(*algorithm), value);
      }
    }
    if (part.number < 1 || part.etag.empty()) return Malformed();
    out.push_back(std::move(part));
  }
  if (out.empty()) return Malformed();
  return out;
}

wire::AwsResult<BucketConfiguration> ParseCreateBucket(std::string_view xml) {
  BucketConfiguration out;
  if (xml.empty()) return out;
  pugi::xml_document document;
  const pugi::xml_node root = LoadRoot(document, xml, "CreateBucketConfiguration");
  if (!root) return Malformed();
  for (const pugi::xml_node& child : root.children()) {
    if (!IsElement(child)) continue;
    if (LocalName(child) != "LocationConstraint") {
      return wire::Refuse("NotImplemented", 501,
                          "{} of CreateBucketConfiguration is not implemented", LocalName(child));
    }
    out.location = child.child_value();
  }
  return out;
}

}  // namespace sabia::s3
