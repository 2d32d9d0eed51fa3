// XML bodies to and from the schema's JSON form, for the query and REST-XML protocols.
//
// Input is hostile: a document type, a nesting deeper than kXmlDepthMax or bytes that are not UTF-8
// are MalformedXML; so are elements that the schema does not know. Namespaces are not compared.
//
// Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "wire/aws_error.h"
#include "wire/schema.h"

namespace sabia::wire {

inline constexpr int kXmlDepthMax = 32;

// Reads the members of the structure that travel in the body. root: the name that the root element
// must have; "" for any. An empty body is an empty structure.
AwsResult<json::object> DecodeXml(const Shape& structure, std::string_view root,
                                  std::string_view body);

// Text with the five special characters and control characters escaped; bytes that are not UTF-8
// become U+FFFD.
std::string EscapeXml(std::string_view text);

// "<name>value</name>", or several of them for a flattened list; for a structure, with its
// attributes.
void EncodeXml(const Member& member, const json::value& value, std::string& out);
// The members of a structure that travel in the body, one after the other.
void EncodeXmlMembers(const Shape& structure, const json::object& value, std::string& out);

}  // namespace sabia::wire
