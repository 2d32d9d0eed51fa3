#include "channels/augmented_manifest.h"

#include <gtest/gtest.h>

namespace sabia::channels {
namespace {

// "text" or "->uri" per attribute, "|" between them; the message when the line is refused.
std::string Pick(std::string_view line, const std::vector<std::string>& names) {
  const auto values = PickAttributes(line, names);
  if (!values) return "refused: " + values.error().message;
  std::string out;
  for (const AttributeValue& value : *values) {
    if (!out.empty()) out += "|";
    out += (value.reference ? "->" : "") + value.text;
  }
  return out;
}

TEST(AugmentedManifest, PicksInTheOrderOfTheNames) {
  constexpr std::string_view kLine =
      R"({"source-ref": "s3://b/i.jpg", "label": 1, "note": "two words"})";
  EXPECT_EQ(Pick(kLine, {"source-ref", "label"}), "->s3://b/i.jpg|1");
  EXPECT_EQ(Pick(kLine, {"note", "source-ref"}), "two words|->s3://b/i.jpg");
  EXPECT_EQ(Pick(kLine, {"label", "label"}), "1|1");
}

TEST(AugmentedManifest, GivesOtherValuesAsTheyStand) {
  constexpr std::string_view kLine =
      R"({"n" : 1.50 ,"big":12345678901234567890,"e":1e3, "t":true,"z":null , "o":{"a": [1, "}"]} ,)"
      R"("l":[ 1,2 ],"s":"x\"y\u00e9\n","":0})";
  EXPECT_EQ(Pick(kLine, {"n", "big", "e", "t", "z"}), "1.50|12345678901234567890|1e3|true|null");
  EXPECT_EQ(Pick(kLine, {"o", "l"}), R"({"a": [1, "}"]}|[ 1,2 ])");
  EXPECT_EQ(Pick(kLine, {"s"}), "x\"yé\n");
  EXPECT_EQ(Pick(kLine, {""}), "0");
}

TEST(AugmentedManifest, NamesMayBeEscaped) {
  EXPECT_EQ(Pick(R"({"la\u0062el":"\\"})", {"label"}), "\\");
}

TEST(AugmentedManifest, LooksAtTheTopOnly) {
  EXPECT_EQ(Pick(R"({"a":{"label":1},"label":2,"b":["label",3]})", {"label"}), "2");
  EXPECT_EQ(Pick(R"({"label":1,"label":2})", {"label"}), "2");
}

TEST(AugmentedManifest, SaysWhatIsWrong) {
  EXPECT_EQ(Pick(R"({"b":1,"a":2})", {"x"}), "refused: it has no attribute 'x', only 'a', 'b'");
  EXPECT_EQ(Pick(R"({"i-ref":5})", {"i-ref"}),
            "refused: attribute 'i-ref' is no text, and must be an S3 URI");
  for (const char* bad : {"", "[1]", "{", R"({"a":1} x)", "nonsense", R"({"a":})"}) {
    EXPECT_EQ(Pick(bad, {"a"}).substr(0, 31), "refused: it is no JSON object: ") << bad;
  }
}

}  // namespace
}  // namespace sabia::channels
