#include "wire/protocol_rest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/xml_codec.h"

namespace sabia::wire {
namespace {

using testing::HasSubstr;

const ServiceSchema& Runtime() { return *FindService("sagemaker-runtime"); }

Call RuntimeCall(std::string_view action) {
  return Call{Runtime(), *Runtime().FindOperation(action), Protocol::kRestJson};
}

std::string Text(const AwsResult<json::object>& decoded) {
  return decoded ? json::serialize(*decoded)
                 : decoded.error().code + ": " + decoded.error().message;
}

// A service with every kind of binding, some of which only S3 uses among the real ones.
std::unique_ptr<ServiceSchema> Bindings() {
  return std::move(LoadServiceSchema(R"({"service":"bindings",
    "metadata":{"protocols":["rest-json"]},
    "operations":{"Act":{"http":"POST /{Id}","input":"In","output":"Out","status":202}},
    "shapes":{
      "Text":{"type":"string"},"Number":{"type":"integer"},"Time":{"type":"timestamp"},
      "Texts":{"type":"list","member":"Text"},"Map":{"type":"map","key":"Text","value":"Text"},
      "In":{"type":"structure","members":{
        "Id":{"shape":"Text","location":"uri"},
        "Count":{"shape":"Number","location":"querystring","locationName":"count"},
        "Names":{"shape":"Texts","location":"querystring","locationName":"name"},
        "Since":{"shape":"Time","location":"header","locationName":"If-Modified-Since"},
        "Marks":{"shape":"Texts","location":"header","locationName":"X-Marks"},
        "Metadata":{"shape":"Map","location":"headers","locationName":"X-Meta-"},
        "Body":"Text"}},
      "Out":{"type":"structure","members":{
        "Code":{"shape":"Number","location":"statusCode"},
        "Modified":{"shape":"Time","location":"header","locationName":"Last-Modified"},
        "Marks":{"shape":"Texts","location":"header","locationName":"X-Marks"},
        "Length":{"shape":"Number","location":"header","locationName":"Content-Length"},
        "Metadata":{"shape":"Map","location":"headers","locationName":"X-Meta-"},
        "Body":"Text"}}}})")
                       .value());
}

class RestBindings : public ::testing::Test {
 protected:
  std::string Decode(std::string_view query,
                     const std::vector<std::pair<std::string, std::string>>& headers,
                     std::string_view body) {
    Headers sent;
    for (const auto& [name, value] : headers) sent.Add(name, value);
    return Text(DecodeRequest(call_, {sent, *QueryParameters::Parse(query), body, {{"Id", "i"}}}));
  }

  std::unique_ptr<ServiceSchema> schema_ = Bindings();
  Call call_{*schema_, *schema_->FindOperation("Act"), Protocol::kRestJson};
};

TEST_F(RestBindings, UriQueryHeadersAndBody) {
  EXPECT_EQ(Decode("count=3&name=a&name=b",
                   {{"if-modified-since", "Tue, 02 Jan 2024 03:04:05 GMT"},
                    {"x-marks", "p, q"},
                    {"X-Meta-Color", "blue"},
                    {"X-Meta-", "no"}},
                   R"({"Body":"x"})"),
            R"({"Body":"x","Id":"i","Count":3,"Names":["a","b"],"Since":1.704164645E9,)"
            R"("Marks":["p","q"],"Metadata":{"color":"blue"}})");
}

TEST_F(RestBindings, BadOnesAreNamed) {
  EXPECT_EQ(Decode("count=x", {}, ""), "SerializationException: count: 'x' is not an integer");
  EXPECT_THAT(Decode("", {{"If-Modified-Since", "yesterday"}}, ""),
              HasSubstr("If-Modified-Since: 'yesterday' is not a timestamp"));
  EXPECT_THAT(Decode("", {}, R"({"Count":3})"), HasSubstr("Count does not belong in the body"));
}

TEST_F(RestBindings, AnswersInStatusHeadersAndBody) {
  Response response = EncodeSuccess(call_,
                                    {{"Modified", 1704164645},
                                     {"Marks", {"p", "q"}},
                                     {"Length", 7},
                                     {"Metadata", {{"color", "blue\r\nSet-Cookie: x"}}},
                                     {"Body", "x"}},
                                    "id");
  EXPECT_EQ(response.status, 202u);
  EXPECT_EQ(response.headers.Get("Last-Modified"), "Tue, 02 Jan 2024 03:04:05 GMT");
  EXPECT_EQ(response.headers.Get("X-Marks"), "p,q");
  EXPECT_EQ(response.headers.Get("X-Meta-color"), "blue  Set-Cookie: x");
  EXPECT_FALSE(response.headers.Has("Content-Length"));
  EXPECT_EQ(response.body, R"({"Body":"x"})");
  EXPECT_EQ(EncodeSuccess(call_, {{"Code", 204}}, "id").status, 204u);
}

TEST(ProtocolRest, PayloadsAreTheBodyItself) {
  const Call call = RuntimeCall("InvokeEndpoint");
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
}

TEST(ProtocolRest, ErrorsTravelInAHeader) {
  Response error =
      EncodeError(Runtime(), Protocol::kRestJson, {"ValidationException", 400, "no", {}}, "r");
  EXPECT_EQ(error.headers.Get("x-amzn-errortype"), "ValidationError");
  error = EncodeError(Runtime(), Protocol::kRestJson,
                      {"ModelError", 424, "died", {{"OriginalStatusCode", "500"}}}, "r");
  EXPECT_EQ(error.status, 424u);
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
