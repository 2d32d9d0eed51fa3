// The XML documents that requests carry, as a tree, and the questions that strict readers ask of
// it.
//
// Names lose their namespace prefix; comments and white space between elements are dropped. Pure;
// any thread. Errors: MalformedXML with AWS's sentence; NotImplemented for a refused element.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "wire/aws_error.h"

namespace sabia::s3 {

struct XmlNode {
  std::string name;
  std::string text;  // of an element without children
  std::vector<XmlNode> children;

  // The first child of that name; nullptr when there is none.
  const XmlNode* Find(std::string_view child) const;
  bool Has(std::string_view child) const { return Find(child) != nullptr; }
  // Its text; "" when there is none.
  std::string_view Get(std::string_view child) const;
  std::vector<const XmlNode*> All(std::string_view child) const;
};

// The root, which must have this name.
wire::AwsResult<XmlNode> ParseXml(std::string_view document, std::string_view root);

tl::unexpected<wire::AwsError> MalformedXml();

// MalformedXML unless every child has one of these names.
wire::AwsResult<void> OnlyChildren(const XmlNode& node,
                                   std::initializer_list<std::string_view> names);
// MalformedXML when one of these children comes twice.
wire::AwsResult<void> AtMostOnce(const XmlNode& node,
                                 std::initializer_list<std::string_view> names);
// A whole number that is at least min; MalformedXML otherwise.
wire::AwsResult<std::int64_t> WholeNumber(const XmlNode& node, std::int64_t min);
// "true" or "false".
wire::AwsResult<bool> Truth(const XmlNode& node);

}  // namespace sabia::s3
