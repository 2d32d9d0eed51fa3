#include "wire/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/testing/manual_clock.h"
#include "wire/request_signer.h"
#include "wire/testing/fake_exchange.h"

namespace sabia::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const AccessKey kRoot{"AKIAROOTROOTROOTROOT", "a-secret-of-forty-characters-0123456789x"};

// Answers what it was told and what it read.
class RecordingS3 final : public S3Handler {
 public:
  void Handle(Exchange& exchange, const CallContext& context, S3Body& body) override {
    const auto content = ReadAll(body, 1 << 20);
    if (!content) {
      const AwsError error = body.Refusal(content.error());
      (void)exchange.Send({error.status, {}, error.code});
      return;
    }
    (void)exchange.Send({200,
                         {},
                         fmt::format("{}|{}|{}|{}", context.principal.arn, context.region, *content,
                                     body.trailers().Get("x-amz-checksum-crc32"))});
  }
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() {
    actions_.Add(
        "sagemaker", "DescribeTrainingJob",
        [](const CallContext& context, const json::object& input) -> AwsResult<json::object> {
          if (GetString(input, "TrainingJobName") == "throw") throw std::runtime_error("bug");
          return json::object{{"TrainingJobName", GetString(input, "TrainingJobName")},
                              {"TrainingJobArn", context.region}};
        });
    actions_.AddEncoded(
        "sagemaker", "StopTrainingJob",
        [](const CallContext&, const json::object& input) -> AwsResult<EncodedAnswer> {
          const std::string name = GetString(input, "TrainingJobName");
          if (name == "none") return RefuseValidation("no such job");
          return std::make_shared<const std::string>("{\"kept\":\"" + name + "\"}");
        });
    actions_.AddLater("sagemaker", "CreateTrainingJob",
                      [this](const CallContext&, const json::object&, const LaterReply& reply) {
                        later_ = reply;
                        if (!answers_later_) reply(json::object{{"TrainingJobArn", "at once"}});
                      });
    dispatcher_.AddExtension("/-/echo", [](const CallContext&, const json::object& input) {
      return AwsResult<json::object>(input);
    });
    dispatcher_.SetReady(true);
  }

  struct Ask {
    std::string method = "POST";
    std::string path = "/";
    std::string query;
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;
    std::string payload_hash;  // "": of the body
    std::string service = "sagemaker";
  };

  bool answers_later_ = false;
  LaterReply later_;
  std::function<void(const LaterReply&)> outcome_;
  SigningIdentity identity_{kRoot.id, kRoot.secret, "", "us-west-2", ""};

  Response Send(const Ask& ask, bool sign = true) {
    OutgoingRequest request{ask.method, ask.path, ask.query, {}, ask.payload_hash};
    if (request.payload_hash.empty()) request.payload_hash = Hex(Sha256Of(ask.body));
    request.headers.Add("Host", "127.0.0.1:9");
    for (const auto& [name, value] : ask.fields) request.headers.Add(name, value);
    SigningIdentity identity = identity_;
    identity.service = ask.service;
    if (sign) SignRequest(request, identity, clock_.Wall());
    RequestHead head;
    head.method = ask.method;
    head.raw_path = ask.path;
    head.raw_query = ask.query;
    head.headers = request.headers;
    FakeExchange exchange(std::move(head), ask.body);
    exchange.answers_later = answers_later_;
    dispatcher_.Handle(exchange);
    EXPECT_TRUE(exchange.answered());
    if (answers_later_) outcome_(later_);
    later_ = nullptr;
    return exchange.answer();
  }
  static Ask Action(const std::string& target, const std::string& body) {
    return {.fields = {{"X-Amz-Target", target}, {"Content-Type", "application/x-amz-json-1.1"}},
            .body = body};
  }

  env::ManualClock clock_;
  env::SeededRandom random_{1};
  CredentialAuthority authority_{kRoot, "123456789012"};
  ActionTable actions_;
  RecordingS3 s3_;
  Dispatcher dispatcher_{{actions_, s3_, authority_, clock_, random_}, {}};
};

TEST_F(DispatcherTest, CallsTheActionOfTheTarget) {
  const Response response =
      Send(Action("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":"j"})"));
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body, R"({"TrainingJobName":"j","TrainingJobArn":"us-west-2"})");
  EXPECT_EQ(response.headers.Get("Content-Type"), "application/x-amz-json-1.1");
  EXPECT_EQ(response.headers.Get("x-amzn-RequestId").size(), 36u);
}

TEST_F(DispatcherTest, AcceptsUrlsOfVersion2ForS3Only) {
  Ask ask{.method = "GET", .path = "/bkt/a%20b"};
  ask.query =
      "AWSAccessKeyId=AKIAROOTROOTROOTROOT&Signature=b8SSlK6QHVReuvQmfqzpmiaT%2FUA%3D&"
      "Expires=1700003600";
  EXPECT_THAT(Send(ask, false).body, HasSubstr("arn:aws:iam::123456789012:root|us-west-2"));
  ask.path = "/bkt/b";
  EXPECT_EQ(Send(ask, false).status, 403u);
  ask.fields = {{"Authorization", "AWS AKIAROOTROOTROOTROOT:b8SSlK6QHVReuvQmfqzpmiaT/UA="}};
  EXPECT_THAT(Send(ask, false).body, HasSubstr("Please use AWS4-HMAC-SHA256"));
}

TEST_F(DispatcherTest, SendsKeptTextAsItIs) {
  const Response response = Send(Action("SageMaker.StopTrainingJob", R"({"TrainingJobName":"j"})"));
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body, R"({"kept":"j"})");
  EXPECT_EQ(response.headers.Get("Content-Type"), "application/x-amz-json-1.1");
  EXPECT_THAT(Send(Action("SageMaker.StopTrainingJob", R"({"TrainingJobName":"none"})")).body,
              HasSubstr("no such job"));
  EXPECT_THAT(Send(Action("SageMaker.StopTrainingJob", R"({"TrainingJobName":"-"})")).body,
              HasSubstr("ValidationException"));
}

constexpr char kCreate[] =
    R"({"TrainingJobName":"a","RoleArn":"arn:aws:iam::123456789012:role/r","OutputDataConfig":
        {"S3OutputPath":"s3://b/o"}})";

TEST_F(DispatcherTest, AnswersAnActionWhenItsOutcomeIsKnown) {
  const Ask ask = Action("SageMaker.CreateTrainingJob", kCreate);
  EXPECT_EQ(Send(ask).body, R"({"TrainingJobArn":"at once"})");
  answers_later_ = true;
  outcome_ = [](const LaterReply& reply) { reply(json::object{{"TrainingJobArn", "later"}}); };
  const Response later = Send(ask);
  EXPECT_EQ(later.status, 200u);
  EXPECT_EQ(later.body, R"({"TrainingJobArn":"later"})");
  EXPECT_TRUE(later.headers.Has("x-amzn-RequestId"));
  outcome_ = [](const LaterReply& reply) {
    reply(Refuse("ResourceInUse", 400, "that name is taken"));
  };
  const Response refused = Send(ask);
  EXPECT_EQ(refused.status, 400u);
  EXPECT_THAT(refused.body, HasSubstr("that name is taken"));
}

TEST_F(DispatcherTest, SpeaksTheQueryProtocol) {
  actions_.Add(
      "sts", "GetCallerIdentity",
      [](const CallContext& context, const json::object&) -> AwsResult<json::object> {
        return json::object{{"Account", context.principal.account}, {"Arn", context.principal.arn}};
      });
  Ask ask{.fields = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
          .body = "Action=GetCallerIdentity&Version=2011-06-15",
          .service = "sts"};
  EXPECT_THAT(Send(ask).body, HasSubstr("<Account>123456789012</Account>"));
  const Response unsigned_answer = Send(ask, false);
  EXPECT_EQ(unsigned_answer.status, 403u);
  EXPECT_THAT(unsigned_answer.body, HasSubstr("<Code>MissingAuthenticationToken</Code>"));
  ask.body = "Action=Nonsense&Version=2011-06-15";
  EXPECT_THAT(Send(ask).body, HasSubstr("<Code>InvalidAction</Code>"));
  ask.body = "Action=GetSessionToken&Version=2011-06-15";
  EXPECT_THAT(Send(ask).body, HasSubstr("GetSessionToken"));
  identity_.access_key_id = "AKIANOBODYNOBODYNOBO";
  EXPECT_THAT(Send(ask).body, HasSubstr("<Code>InvalidClientTokenId</Code>"));
}

TEST_F(DispatcherTest, FindsRestServicesByTheirPath) {
  actions_.Add("sagemaker-metrics", "BatchPutMetrics",
               [](const CallContext&, const json::object& input) -> AwsResult<json::object> {
                 EXPECT_EQ(GetString(input, "TrialComponentName"), "t");
                 return json::object{};
               });
  const std::string metrics =
      R"({"TrialComponentName":"t","MetricData":[{"MetricName":"m","Timestamp":1,"Value":2}]})";
  EXPECT_EQ(Send({.method = "PUT", .path = "/BatchPutMetrics", .body = metrics}).status, 200u);
  const Response invoke = Send({.path = "/endpoints/e/invocations", .body = "x"});
  EXPECT_EQ(invoke.status, 400u);
  EXPECT_THAT(invoke.body, HasSubstr("InvokeEndpoint"));
  EXPECT_EQ(Send({.path = "/no/such/path"}).status, 400u);
}

TEST_F(DispatcherTest, ValidatesBeforeTheActionSeesIt) {
  const Response response =
      Send(Action("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":"-"})"));
  EXPECT_EQ(response.status, 400u);
  EXPECT_THAT(response.body, HasSubstr("ValidationException"));
  EXPECT_THAT(response.body, HasSubstr("trainingJobName"));
  EXPECT_THAT(Send(Action("SageMaker.DescribeTrainingJob", "{")).body,
              HasSubstr("SerializationException"));
}

TEST_F(DispatcherTest, NamesWhatIsUnknownOrNotImplemented) {
  const Response unknown = Send(Action("SageMaker.MakeCoffee", "{}"));
  EXPECT_EQ(unknown.status, 400u);
  EXPECT_THAT(unknown.body, HasSubstr("UnknownOperationException"));
  EXPECT_THAT(unknown.body, HasSubstr("MakeCoffee"));
  const Response missing = Send(Action("SageMaker.CreateDomain", "{}"));
  EXPECT_EQ(missing.status, 400u);
  EXPECT_THAT(missing.body, HasSubstr("CreateDomain"));
  const Response service = Send(Action("Coffee_2020.Make", "{}"));
  EXPECT_EQ(service.status, 400u);
  EXPECT_THAT(service.body, HasSubstr("UnknownOperationException"));
  EXPECT_THAT(service.body, HasSubstr("Coffee_2020"));
}

TEST_F(DispatcherTest, RefusesWhatIsNotAuthentic) {
  const Ask ask = Action("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":"j"})");
  EXPECT_THAT(Send(ask, false).body, HasSubstr("MissingAuthenticationTokenException"));
  Ask other_body = ask;
  other_body.payload_hash = std::string(kEmptySha256);
  EXPECT_THAT(Send(other_body).body, HasSubstr("InvalidSignatureException"));
  Ask other_service = ask;
  other_service.service = "logs";
  EXPECT_THAT(Send(other_service).body, HasSubstr("correct service: 'sagemaker'"));
  identity_.secret_access_key += "x";
  EXPECT_THAT(Send(ask).body, HasSubstr("InvalidSignatureException"));
  identity_.access_key_id = "AKIANOBODYNOBODYNOBO";
  EXPECT_THAT(Send(ask).body, HasSubstr("UnrecognizedClientException"));
}

TEST_F(DispatcherTest, KnowsTemporaryCredentialsByTheirRole) {
  const TemporaryCredentials minted = authority_.Mint(
      {"arn:aws:iam::123456789012:role/r", "session", clock_.Wall() + Seconds(60)}, random_);
  identity_ = {minted.key.id, minted.key.secret, minted.session_token, "eu-west-1", ""};
  const Response response = Send({.method = "GET", .path = "/b/k", .service = "s3"});
  EXPECT_EQ(response.body, "arn:aws:sts::123456789012:assumed-role/r/session|eu-west-1||");
  clock_.Advance(Seconds(60));
  EXPECT_THAT(Send({.method = "GET", .path = "/b/k", .service = "s3"}).body,
              HasSubstr("ExpiredToken"));
  EXPECT_THAT(Send(Action("SageMaker.DescribeTrainingJob", "{}")).body,
              HasSubstr("ExpiredTokenException"));
}

TEST_F(DispatcherTest, HandsS3ItsVerifiedBody) {
  EXPECT_EQ(Send({.method = "PUT", .path = "/b/k", .body = "data", .service = "s3"}).body,
            "arn:aws:iam::123456789012:root|us-west-2|data|");
  const Response wrong = Send({.method = "PUT",
                               .path = "/b/k",
                               .body = "data",
                               .payload_hash = Hex(Sha256Of("other")),
                               .service = "s3"});
  EXPECT_EQ(wrong.body, "XAmzContentSHA256Mismatch");
  EXPECT_EQ(Send({.method = "PUT",
                  .path = "/b/k",
                  .fields = {{"x-amz-decoded-content-length", "4"},
                             {"x-amz-trailer", "x-amz-checksum-crc32"},
                             {"Content-Encoding", "aws-chunked"}},
                  .body = "4\r\ndata\r\n0\r\nx-amz-checksum-crc32:rfPzYw==\r\n\r\n",
                  .payload_hash = "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
                  .service = "s3"})
                .body,
            "arn:aws:iam::123456789012:root|us-west-2|data|rfPzYw==");
}

TEST_F(DispatcherTest, AcceptsPresignedUrlsAndPassesAnonymousRequestsOn) {
  OutgoingRequest request{"GET", "/b/a%20key", "versionId=1", {}, ""};
  request.headers.Add("Host", "127.0.0.1:9");
  SigningIdentity identity = identity_;
  identity.service = "s3";
  const std::string query = PresignQuery(request, identity, clock_.Wall(), Seconds(60));
  EXPECT_THAT(Send({.method = "GET", .path = "/b/a%20key", .query = query}, false).body,
              HasSubstr(":root|us-west-2||"));
  EXPECT_THAT(Send({.method = "GET", .path = "/b/other", .query = query}, false).body,
              HasSubstr("<Code>SignatureDoesNotMatch</Code>"));
  EXPECT_EQ(Send({.method = "GET", .path = "/b/k"}, false).body, "|us-west-2||");
}

TEST_F(DispatcherTest, HealthIsHonest) {
  EXPECT_EQ(Send({.method = "GET", .path = "/-/health"}, false).status, 200u);
  dispatcher_.SetReady(false);
  EXPECT_EQ(Send({.method = "GET", .path = "/-/health"}, false).status, 503u);
  EXPECT_EQ(Send(Action("SageMaker.DescribeTrainingJob", "{}")).status, 503u);
  EXPECT_EQ(Send({.method = "GET", .path = "/b/k", .service = "s3"}).status, 503u);
}

TEST_F(DispatcherTest, ExtensionsNeedTheRootKey) {
  const Ask ask{.path = "/-/echo", .body = R"({"a":1})", .service = "sabia"};
  EXPECT_EQ(Send(ask).body, R"({"a":1})");
  EXPECT_EQ(Send({.method = "GET", .path = "/-/echo", .query = "a=b", .service = "sabia"}).body,
            R"({"a":"b"})");
  EXPECT_THAT(Send(ask, false).body, HasSubstr("MissingAuthenticationToken"));
  EXPECT_EQ(Send({.path = "/-/nothing", .service = "sabia"}).status, 404u);
  Ask bad = ask;
  bad.body = "[";
  EXPECT_EQ(Send(bad).status, 400u);
  const TemporaryCredentials minted = authority_.Mint(
      {"arn:aws:iam::123456789012:role/r", "session", clock_.Wall() + Seconds(60)}, random_);
  identity_ = {minted.key.id, minted.key.secret, minted.session_token, "us-west-2", ""};
  EXPECT_EQ(Send(ask).status, 403u);
}

TEST_F(DispatcherTest, AHandlerThatThrowsIsAnInternalFailure) {
  const Response response =
      Send(Action("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":"throw"})"));
  EXPECT_EQ(response.status, 500u);
  EXPECT_THAT(response.body, HasSubstr("InternalFailure"));
  EXPECT_THAT(response.body, Not(HasSubstr("bug")));
}

TEST_F(DispatcherTest, RefusesHugeAndMalformedRequests) {
  EXPECT_EQ(Send(Action("SageMaker.DescribeTrainingJob", std::string(7 << 20, ' '))).status, 413u);
  EXPECT_EQ(Send({.method = "GET", .path = "/b", .query = "a=%zz", .service = "s3"}).status, 400u);
}

TEST_F(DispatcherTest, CountsRequestsByAction) {
  Send(Action("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":"j"})"));
  Send(Action("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":"-"})"));
  Send(Action("Evil\"Service.X", "{}"));
  dispatcher_.AddMetrics([](PrometheusText& text) {
    text.Family("sabia_extra", "gauge", "More.");
    text.Sample(4);
  });
  const Response response = Send({.method = "GET", .path = "/-/metrics"}, false);
  EXPECT_THAT(response.headers.Get("Content-Type"), HasSubstr("version=0.0.4"));
  EXPECT_THAT(response.body,
              HasSubstr("sabia_requests_total{service=\"sagemaker\",action=\"DescribeTrainingJob\","
                        "code=\"2xx\"} 1\n"));
  EXPECT_THAT(response.body, HasSubstr("code=\"4xx\"} 1\n"));
  EXPECT_THAT(response.body, HasSubstr("le=\"+Inf\"} 2\n"));
  EXPECT_THAT(response.body, HasSubstr("sabia_extra 4\n"));
  EXPECT_THAT(response.body, Not(HasSubstr("Evil")));
}

}  // namespace
}  // namespace sabia::wire
