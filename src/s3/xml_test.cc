#include "s3/xml.h"

#include <gtest/gtest.h>

namespace sabia::s3 {
namespace {

TEST(S3Xml, WriterEscapesWhatXmlCannotCarry) {
  XmlWriter xml("R", "");
  xml.Open("A").Element("B", "<&>\"'\r\n\x01é").Close().Element("C", "");
  EXPECT_EQ(xml.Finish(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<R><A><B>&lt;&amp;&gt;&quot;'&#xd;\n&#x1;é</B></A><C></C></R>");
}

TEST(S3Xml, ParsesDelete) {
  const auto parsed = ParseDelete(
      "<?xml version=\"1.0\"?><Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object>"
      "<Key>a&amp;b&#13;</Key></Object><Object><Key> </Key><VersionId>null</VersionId></Object>"
      "<Object><Key>c</Key><ETag>\"x\"</ETag><Size>7</Size>"
      "<LastModifiedTime>Tue, 14 Nov 2023 22:13:20 "
      "GMT</LastModifiedTime></Object><Quiet>true</Quiet></Delete>");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->entries.size(), 3U);
  EXPECT_EQ(parsed->entries[0].key, "a&b\r");
  EXPECT_EQ(parsed->entries[1].key, " ");
  EXPECT_EQ(parsed->entries[1].version_id, "null");
  EXPECT_FALSE(parsed->entries[1].etag);
  EXPECT_EQ(parsed->entries[2].etag, "x");
  EXPECT_EQ(parsed->entries[2].size, 7U);
  EXPECT_EQ(parsed->entries[2].modified, FromUnixMillis(1'700'000'000'000));
  EXPECT_TRUE(parsed->quiet);
}

TEST(S3Xml, RefusesBadDeletes) {
  std::string many = "<Delete>";
  for (int i = 0; i < 1001; ++i) many += "<Object><Key>k</Key></Object>";
  many += "</Delete>";
  for (const std::string& bad : {std::string(), std::string("x"), std::string("<Delete/>"),
                                 std::string("<Delete><Object/></Delete>"),
                                 std::string("<Other><Object><Key>k</Key></Object></Other>"),
                                 std::string("<Delete><Object><Key>k</Key></Object>"), many}) {
    const auto parsed = ParseDelete(bad);
    ASSERT_FALSE(parsed) << bad.substr(0, 60);
    EXPECT_EQ(parsed.error().code, "MalformedXML");
  }
}

TEST(S3Xml, ParsesCompleteMultipart) {
  const auto parsed = ParseCompleteMultipart(
      "<CompleteMultipartUpload xmlns=\"u\"><Part><ETag>\"abc\"</ETag><PartNumber>2</PartNumber>"
      "<ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part>\n<Part><PartNumber>1</PartNumber>"
      "<ETag>&quot;d&quot;</ETag></Part></CompleteMultipartUpload>");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 2U);
  EXPECT_EQ((*parsed)[0].number, 2);
  EXPECT_EQ((*parsed)[0].etag, "abc");
  EXPECT_EQ((*parsed)[0].checksums.at("crc32"), "AAAAAA==");
  EXPECT_EQ((*parsed)[1].etag, "d");
  for (const char* bad :
       {"<CompleteMultipartUpload/>", "<CompleteMultipartUpload><Part/></CompleteMultipartUpload>",
        "<CompleteMultipartUpload><Part><PartNumber>x</PartNumber><ETag>e</ETag></Part>"
        "</CompleteMultipartUpload>",
        "<CompleteMultipartUpload><Part><PartNumber>0</PartNumber><ETag>e</ETag></Part>"
        "</CompleteMultipartUpload>",
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></"
        "CompleteMultipartUpload>",
        "<CompleteMultipartUpload><Pear/></CompleteMultipartUpload>"}) {
    EXPECT_FALSE(ParseCompleteMultipart(bad)) << bad;
  }
}

TEST(S3Xml, ParsesCreateBucket) {
  EXPECT_EQ(ParseCreateBucket("")->location, "");
  EXPECT_EQ(ParseCreateBucket("<CreateBucketConfiguration><LocationConstraint>eu-west-1"
                              "</LocationConstraint></CreateBucketConfiguration>")
                ->location,
            "eu-west-1");
  EXPECT_EQ(ParseCreateBucket("<CreateBucketConfiguration><Tags/></CreateBucketConfiguration>")
                .error()
                .code,
            "NotImplemented");
  EXPECT_EQ(ParseCreateBucket("<x/>").error().code, "MalformedXML");
}

// Deep nesting must not exhaust the stack.
TEST(S3Xml, DeepNestingIsHarmless) {
  std::string deep = "<Delete>";
  for (int i = 0; i < 200'000; ++i) deep += "<a>";
  EXPECT_FALSE(ParseDelete(deep));
  for (int i = 0; i < 200'000; ++i) deep += "</a>";
  EXPECT_FALSE(ParseDelete(deep + "</Delete>"));
}

}  // namespace
}  // namespace sabia::s3
