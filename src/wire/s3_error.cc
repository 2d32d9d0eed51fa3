#include "wire/s3_error.h"

namespace sabia::wire {
namespace {

void AppendEscaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (byte < 0x20 && c != '\n' && c != '\t') {
      out += '?';  // no form of XML 1.0 can carry these
    } else {
      out += c;
    }
  }
}

void AppendElement(std::string& out, std::string_view name, std::string_view text) {
  out.append("<").append(name).append(">");
  AppendEscaped(out, text);
  out.append("</").append(name).append(">");
}

}  // namespace

Response S3ErrorResponse(const AwsError& error, std::string_view resource,
                         std::string_view request_id) {
  Response response;
  response.status = error.status;
  response.headers.Add("Content-Type", "application/xml");
  response.headers.Add("x-amz-request-id", std::string(request_id));
  response.headers.Add("x-amz-id-2", std::string(request_id));
  for (const auto& [name, value] : error.headers) response.headers.Add(name, value);
  std::string& out = response.body;
  out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>";
  AppendElement(out, "Code", error.code);
  AppendElement(out, "Message", error.message);
  for (const auto& [name, value] : error.details) AppendElement(out, name, value);
  AppendElement(out, "Resource", resource);
  AppendElement(out, "RequestId", request_id);
  AppendElement(out, "HostId", request_id);
  out += "</Error>";
  return response;
}

}  // namespace sabia::wire
