// XML bodies of S3 requests. What decodes must encode to a document that decodes to the same value.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/xml_codec.h"

namespace sabia::wire {
namespace {

constexpr std::array<std::string_view, 5> kShapes{"Delete", "CompletedMultipartUpload", "Tagging",
                                                  "LifecycleConfiguration", "AccessControlPolicy"};

void Check(const Shape& shape, std::string_view body) {
  const auto value = DecodeXml(shape, "", body);
  if (!value) {
    CHECK(value.error().code == "MalformedXML" && value.error().status == 400);
    return;
  }
  (void)Validate(shape, *value);
  std::string text = "<r>";
  EncodeXmlMembers(shape, *value, text);
  text += "</r>";
  const auto again = DecodeXml(shape, "r", text);
  CHECK_MSG(again.has_value(), again.error().message + " in " + text);
  CHECK_MSG(*again == *value, text);
}

}  // namespace
}  // namespace sabia::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::wire;
  if (size == 0) return 0;
  const ServiceSchema& s3 = *FindService("s3");
  Check(*s3.FindShape(kShapes[data[0] % kShapes.size()]),
        std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
