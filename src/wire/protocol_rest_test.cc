#include "wire/protocol_rest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/gen/s3.h"
#include "wire/xml_codec.h"

namespace sabia::wire {
namespace {

using testing::HasSubstr;
using testing::Not;

Call S3Call(std::string_view action) {
  const ServiceSchema& s3 = *FindService("s3");
  return Call{s3, *s3.FindOperation(action), Protocol::kRestXml};
}

struct Sent {
  std::string query;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

AwsResult<json::object> Decode(const Call& call, const Sent& sent) {
  Headers headers;
  for (const auto& [name, value] : sent.headers) headers.Add(name, value);
  const auto query = QueryParameters::Parse(sent.query);
  return DecodeRequest(call, {headers, *query, sent.body, {{"Bucket", "b"}, {"Key", "k"}}});
}

std::string Text(const AwsResult<json::object>& decoded) {
  return decoded ? json::serialize(*decoded)
                 : decoded.error().code + ": " + decoded.error().message;
}

TEST(ProtocolRest, BindsUriQueryAndHeaders) {
  const auto decoded =
      Decode(S3Call("GetObject"),
             {"partNumber=3&response-expires=Tue%2C+02+Jan+2024+03%3A04%3A05+GMT",
              {{"range", "bytes=0-9"}, {"If-Modified-Since", "Tue, 02 Jan 2024 03:04:05 GMT"}},
              ""});
  ASSERT_TRUE(decoded);
  const auto request = s3::GetObjectRequest::Decode(*decoded);
  EXPECT_EQ(request.bucket, "b");
  EXPECT_EQ(request.key, "k");
  EXPECT_EQ(request.range, "bytes=0-9");
  EXPECT_EQ(request.part_number, 3);
  EXPECT_EQ(ToUnixMillis(*request.if_modified_since), 1704164645000);
  EXPECT_EQ(ToUnixMillis(*request.response_expires), 1704164645000);
}

TEST(ProtocolRest, BindsPrefixedHeadersAndLeavesStreamsAlone) {
  const auto decoded =
      Decode(S3Call("PutObject"),
             {"",
              {{"X-Amz-Meta-Color", "blue"}, {"x-amz-meta-", "no"}, {"x-amz-acl", "private"}},
              "not read"});
  EXPECT_EQ(Text(decoded),
            R"({"ACL":"private","Bucket":"b","Key":"k","Metadata":{"color":"blue"}})");
}

TEST(ProtocolRest, BadBindingsAreNamed) {
  EXPECT_EQ(Text(Decode(S3Call("UploadPart"), {"partNumber=x&uploadId=u", {}, ""})),
            "InvalidArgument: partNumber: 'x' is not an integer");
  EXPECT_THAT(Text(Decode(S3Call("GetObject"), {"", {{"If-Modified-Since", "yesterday"}}, ""})),
              HasSubstr("If-Modified-Since: 'yesterday' is not a timestamp"));
}

TEST(ProtocolRest, ReadsXmlPayloads) {
  EXPECT_EQ(
      Text(Decode(
          S3Call("DeleteObjects"),
          {"delete",
           {},
           "<?xml version=\"1.0\"?><Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
           "<Object><Key>a &amp; b</Key></Object> <Object><Key> </Key><VersionId>1</VersionId>"
           "</Object><Quiet>true</Quiet></Delete>"})),
      R"({"Delete":{"Objects":[{"Key":"a & b"},{"Key":" ","VersionId":"1"}],"Quiet":true},"Bucket":"b"})");
  EXPECT_EQ(Text(Decode(S3Call("CreateBucket"), {"", {}, ""})), R"({"Bucket":"b"})");
  EXPECT_EQ(
      Text(Decode(S3Call("CompleteMultipartUpload"),
                  {"uploadId=u",
                   {},
                   "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"e\"</ETag>"
                   "</Part></CompleteMultipartUpload>"})),
      R"({"MultipartUpload":{"Parts":[{"PartNumber":1,"ETag":"\"e\""}]},"Bucket":"b","Key":"k","UploadId":"u"})");
}

TEST(ProtocolRest, ReadsXmlAttributes) {
  const Shape& grant = *FindService("s3")->FindShape("Grant");
  const auto decoded = DecodeXml(
      grant, "Grant",
      "<Grant xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"><Grantee i:type=\"Group\">"
      "<URI>u</URI></Grantee><Permission>READ</Permission></Grant>");
  EXPECT_EQ(Text(decoded), R"({"Grantee":{"Type":"Group","URI":"u"},"Permission":"READ"})");
  std::string out;
  EncodeXmlMembers(grant, *decoded, out);
  EXPECT_EQ(out,
            "<Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            "xsi:type=\"Group\"><URI>u</URI></Grantee>"
            "<Permission>READ</Permission>");
}

TEST(ProtocolRest, HostileXmlIsRefused) {
  const auto refusal = [](const std::string& body) {
    return Text(Decode(S3Call("DeleteObjects"), {"delete", {}, body}));
  };
  EXPECT_THAT(refusal("<!DOCTYPE d [<!ENTITY a \"b\">]><Delete>&a;</Delete>"),
              HasSubstr("document type"));
  EXPECT_THAT(refusal("<Delete><Object></Delete>"), HasSubstr("MalformedXML: "));
  EXPECT_THAT(refusal("<Delete/><Delete/>"), HasSubstr("MalformedXML: "));
  EXPECT_THAT(refusal("text"), HasSubstr("MalformedXML: "));
  EXPECT_THAT(refusal("<Remove/>"), HasSubstr("the root element is not 'Delete'"));
  EXPECT_THAT(refusal("<Delete><Objekt/></Delete>"), HasSubstr("unexpected element 'Objekt'"));
  EXPECT_THAT(refusal("<Delete><Quiet>maybe</Quiet></Delete>"),
              HasSubstr("'maybe' is not true or false"));
  EXPECT_THAT(refusal("<Delete><Quiet>true</Quiet><Quiet>true</Quiet></Delete>"),
              HasSubstr("occurs twice"));
  EXPECT_THAT(refusal("<Delete>\xff</Delete>"), HasSubstr("not UTF-8"));
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "<Object>";
  EXPECT_THAT(refusal(deep), HasSubstr("MalformedXML"));
  std::string closed = deep;
  for (int i = 0; i < 200'000; ++i) closed += "</Object>";
  EXPECT_THAT(refusal("<Delete>" + closed + "</Delete>"), HasSubstr("nested too deeply"));
}

TEST(ProtocolRest, AnswersInXmlWithS3sRootNames) {
  s3::ListObjectsV2Output output;
  output.name = "b";
  output.is_truncated = false;
  s3::Object object;
  object.key = "a\rb";
  object.last_modified = FromUnixMillis(1704164645000);
  object.size = 3;
  output.contents = {object};
  const Response response = EncodeSuccess(S3Call("ListObjectsV2"), output.Encode(), "id");
  EXPECT_EQ(response.headers.Get("content-type"), "application/xml");
  EXPECT_EQ(response.body,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
            "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<IsTruncated>false</IsTruncated><Contents><Key>a&#xd;b</"
            "Key><LastModified>2024-01-02T03:04:05.000Z"
            "</LastModified><Size>3</Size></Contents><Name>b</Name></ListBucketResult>");
  EXPECT_THAT(
      EncodeSuccess(S3Call("GetBucketLocation"), {{"LocationConstraint", "eu-west-1"}}, "id").body,
      HasSubstr(
          "<LocationConstraint "
          "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">eu-west-1</LocationConstraint>"));
  EXPECT_THAT(
      EncodeSuccess(S3Call("CopyObject"), {{"CopyObjectResult", json::object{{"ETag", "\"e\""}}}},
                    "id")
          .body,
      HasSubstr("<CopyObjectResult "
                "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><ETag>&quot;e&quot;</ETag>"));
}

TEST(ProtocolRest, AnswersInHeaders) {
  s3::HeadObjectOutput output;
  output.e_tag = "\"e\"";
  output.content_length = 7;
  output.last_modified = FromUnixMillis(1704164645000);
  output.metadata.emplace()["color"] = "blue\r\nSet-Cookie: x";
  const Response response = EncodeSuccess(S3Call("HeadObject"), output.Encode(), "id");
  EXPECT_EQ(response.headers.Get("ETag"), "\"e\"");
  EXPECT_EQ(response.headers.Get("Last-Modified"), "Tue, 02 Jan 2024 03:04:05 GMT");
  EXPECT_EQ(response.headers.Get("x-amz-meta-color"), "blue  Set-Cookie: x");
  EXPECT_FALSE(response.headers.Has("Content-Length"));
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(EncodeSuccess(S3Call("DeleteObject"), {}, "id").status, 204u);
}

TEST(ProtocolRest, S3ErrorsAreDocuments) {
  const ServiceSchema& s3 = *FindService("s3");
  const AwsError error{"NoSuchKey", 404, "The specified key does not exist.", {{"Key", "a&b"}}};
  const Response response = EncodeError(s3, Protocol::kRestXml, error, "r");
  EXPECT_EQ(response.status, 404u);
  EXPECT_EQ(response.body,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>The "
            "specified key does not "
            "exist.</Message><Key>a&amp;b</Key><RequestId>r</RequestId><HostId>r</HostId></Error>");
  EXPECT_THAT(EncodeError(s3, Protocol::kRestXml, {"InternalFailure", 500, "m", {}}, "r").body,
              HasSubstr("<Code>InternalError</Code>"));
}

TEST(ProtocolRest, RestJsonBindsAndErrors) {
  const ServiceSchema& runtime = *FindService("sagemaker-runtime");
  const Call call{runtime, *runtime.FindOperation("InvokeEndpoint"), Protocol::kRestJson};
  Headers headers;
  headers.Add("Content-Type", "text/csv");
  headers.Add("X-Amzn-SageMaker-Target-Variant", "v");
  const QueryParameters query;
  const auto decoded = DecodeRequest(call, {headers, query, "1,2", {{"EndpointName", "e"}}});
  EXPECT_EQ(Text(decoded),
            R"({"Body":"MSwy","EndpointName":"e","ContentType":"text/csv","TargetVariant":"v"})");
  const Response success =
      EncodeSuccess(call, {{"Body", "MSwy"}, {"ContentType", "text/csv"}}, "r");
  EXPECT_EQ(success.body, "1,2");
  EXPECT_EQ(success.headers.Get("Content-Type"), "text/csv");
  Response error = EncodeError(runtime, Protocol::kRestJson,
                               {"ValidationException", 400, "no endpoint", {}}, "r");
  EXPECT_EQ(error.headers.Get("x-amzn-errortype"), "ValidationError");
  error = EncodeError(runtime, Protocol::kRestJson,
                      {"ModelError", 424, "died", {{"OriginalStatusCode", "500"}}}, "r");
  EXPECT_THAT(error.body, HasSubstr(R"("OriginalStatusCode":500)"));
}

TEST(ProtocolRest, RestJsonBodiesHoldTheUnboundMembers) {
  const ServiceSchema& metrics = *FindService("sagemaker-metrics");
  const Call call{metrics, *metrics.FindOperation("BatchPutMetrics"), Protocol::kRestJson};
  const Headers headers;
  const QueryParameters query;
  EXPECT_EQ(Text(DecodeRequest(
                call, {headers, query, R"({"TrialComponentName":"t","MetricData":[]})", {}})),
            R"({"TrialComponentName":"t","MetricData":[]})");
  EXPECT_THAT(Text(DecodeRequest(call, {headers, query, "[", {}})),
              HasSubstr("SerializationException"));
}

TEST(Xml, EscapesWhatXmlCannotHold) {
  EXPECT_EQ(EscapeXml("a<b>&\"'\x01\n\xC3\xA4\xff"),
            "a&lt;b&gt;&amp;&quot;&apos;&#x1;\n\xC3\xA4\xEF\xBF\xBD");
}

}  // namespace
}  // namespace sabia::wire
