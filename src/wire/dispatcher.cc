#include "wire/dispatcher.h"

#include <exception>

#include "base/check.h"
#include "base/encoding.h"
#include "base/log.h"
#include "wire/null_members.h"
#include "wire/protocol.h"
#include "wire/s3_body.h"
#include "wire/s3_error.h"
#include "wire/sigv2_url.h"
#include "wire/watched_exchange.h"

namespace sabia::wire {
namespace {

constexpr std::string_view kInternalService = "sabia";
constexpr std::string_view kHealthPath = "/-/health";
constexpr std::string_view kMetricsPath = "/-/metrics";

AwsError NotReady() {
  return {"ServiceUnavailable", 503, "sabia is starting; try again in a moment", {}};
}

ErrorFamily FamilyOf(const ServiceRoute& route) {
  if (route.destination == Destination::kS3) return ErrorFamily::kS3;
  return route.protocol == Protocol::kQuery ? ErrorFamily::kQuery : ErrorFamily::kJson;
}

// What the metrics call it: never a client's bytes.
std::string_view MetricService(const ServiceRoute& route) {
  if (route.destination == Destination::kInternal) return kInternalService;
  if (route.destination == Destination::kS3) return "s3";
  return route.schema != nullptr ? std::string_view(route.schema->name)
                                 : std::string_view("unknown");
}

AwsError UnknownService(const ServiceRoute& route) {
  std::string known;
  for (const std::string& name : ServiceNames())
    known.append(known.empty() ? "" : ", ").append(name);
  return {"UnknownOperationException",
          400,
          fmt::format("sabia does not speak the service '{}'{}{}{}; it speaks {}", route.service,
                      route.action.empty() ? "" : " (action '", route.action,
                      route.action.empty() ? "" : "')", known),
          {}};
}

json::object ParametersAsJson(const QueryParameters& query) {
  json::object object;
  for (const auto& [name, value] : query.all()) object[name] = value;
  return object;
}

}  // namespace

struct Dispatcher::Request {
  explicit Request(Exchange& its_exchange) : exchange(its_exchange), head(its_exchange.head()) {}

  Exchange& exchange;
  const RequestHead& head;
  QueryParameters query;
  std::optional<SignatureClaim> claim;
  ServiceRoute route;
  const Operation* operation = nullptr;
  std::string_view metric_action = "unknown";
  CallContext context;
  MonoTime start;
  bool later = false;  // a Waiting has the answer
};

// A request whose handler has returned and whose answer depends on somebody else.
struct Dispatcher::Waiting {
  std::unique_ptr<LaterAnswer> answer;
  Call call;
  std::string id, peer, method, path, by;
  MonoTime start;
};

Dispatcher::Dispatcher(const DispatcherParts& parts, DispatcherOptions options)
    : actions_(parts.actions),
      s3_(parts.s3),
      authority_(parts.authority),
      clock_(parts.clock),
      options_(std::move(options)),
      verifier_(parts.authority, parts.clock),
      ids_(parts.random) {}

void Dispatcher::AddExtension(const std::string& path, Extension extension) {
  CHECK_MSG(path.starts_with("/-/") && path != kHealthPath && path != kMetricsPath, path);
  CHECK_MSG(extensions_.emplace(path, std::move(extension)).second, path);
}

void Dispatcher::Handle(Exchange& exchange) {
  Request request(exchange);
  request.start = clock_.Mono();
  try {
    Route(request);
  } catch (const std::exception& error) {
    LogError("request {} of {} {} threw: {}", request.context.request_id, request.head.method,
             request.head.raw_path, error.what());
    if (!exchange.answered()) {
      SendError(request,
                {"InternalFailure", 500, "an internal error; the daemon's log has more", {}});
    }
  }
  if (request.later) return;
  Finish({request.context.request_id, request.head.peer, request.head.method, request.head.raw_path,
          MetricService(request.route), request.metric_action, request.context.principal.arn,
          request.start},
         exchange.status());
}

// The one kind of request whose signature is not of version 4.
bool Dispatcher::IsS3Url(const Request& request) {
  return request.route.destination == Destination::kS3 &&
         !request.head.headers.Has("Authorization") && IsSigV2Url(request.query);
}

void Dispatcher::FillContext(Request& request) {
  CallContext& context = request.context;
  context.now = clock_.Wall();
  context.region = request.claim ? request.claim->scope.region : options_.region;
  context.endpoint =
      fmt::format("{}://{}", request.head.tls ? "https" : "http", request.head.headers.Get("Host"));
  context.principal.anonymous = true;
}

void Dispatcher::Route(Request& request) {
  request.context.request_id = ids_.Next();
  AuthResult<std::optional<SignatureClaim>> claim = std::optional<SignatureClaim>();
  if (auto query = QueryParameters::Parse(request.head.raw_query)) {
    request.query = std::move(*query);
    claim = ParseClaim(request.head, request.query);
    if (claim) request.claim = std::move(*claim);
  } else {
    request.route = router_.Route(request.head, request.query, nullptr);
    return SendError(request, {"InvalidURI", 400, "Couldn't parse the specified URI.", {}});
  }
  request.route =
      router_.Route(request.head, request.query, request.claim ? &*request.claim : nullptr);
  FillContext(request);
  if (request.route.destination == Destination::kInternal &&
      (request.head.raw_path == kHealthPath || request.head.raw_path == kMetricsPath)) {
    return HandleInternal(request);
  }
  if (!claim && !IsS3Url(request)) {
    return SendError(request, ToAwsError(claim.error(), FamilyOf(request.route)));
  }
  if (request.route.destination == Destination::kInternal) return HandleInternal(request);
  if (!ready_.load(std::memory_order_relaxed)) return SendError(request, NotReady());
  if (request.route.destination == Destination::kS3) return HandleS3(request);
  HandleService(request);
}

void Dispatcher::HandleInternal(Request& request) {
  const std::string& path = request.head.raw_path;
  if (path == kHealthPath) {
    request.metric_action = "health";
    const bool ready = ready_.load();
    return SendJson(request, ready ? 200 : 503, {{"status", ready ? "ready" : "starting"}});
  }
  if (path == kMetricsPath) {
    request.metric_action = "metrics";
    PrometheusText text;
    metrics_.Write(text);
    for (const MetricsWriter& writer : metrics_writers_) writer(text);
    Response response;
    response.headers.Add("Content-Type", std::string(PrometheusText::kContentType));
    response.body = text.text();
    (void)request.exchange.Send(response);
    return;
  }
  const auto extension = extensions_.find(path);
  if (extension == extensions_.end()) {
    return SendError(
        request,
        {"UnknownOperationException", 404, fmt::format("there is no extension '{}'", path), {}});
  }
  request.metric_action = extension->first;
  HandleExtension(request, extension->second);
}

void Dispatcher::HandleExtension(Request& request, const Extension& extension) {
  const auto body = ReadBody(request);
  if (!body) return SendError(request, body.error());
  if (auto known = Authenticate(request, kInternalService, *body); !known) {
    return SendError(request, known.error());
  }
  if (request.context.principal.access_key_id != authority_.root().id) {
    return SendError(
        request,
        {"AccessDeniedException", 403, "only the root key may use sabia's own extensions", {}});
  }
  json::object input = ParametersAsJson(request.query);
  if (request.head.method == "POST" && !body->empty()) {
    auto parsed = ParseJsonObject(*body);
    if (!parsed)
      return SendError(request, {"SerializationException", 400, parsed.error().message, {}});
    input = std::move(*parsed);
  }
  const auto output = extension(request.context, input);
  if (!output) return SendError(request, output.error());
  SendJson(request, 200, *output);
}

void Dispatcher::HandleS3(Request& request) {
  request.metric_action = request.head.method;
  std::optional<VerifiedSignature> signature;
  if (request.claim) {
    const auto hash = S3PayloadHash(request.head, *request.claim);
    if (!hash) return SendError(request, ToAwsError(hash.error(), ErrorFamily::kS3));
    auto verified = verifier_.Verify(request.head, *request.claim, *hash);
    if (!verified) return SendError(request, ToAwsError(verified.error(), ErrorFamily::kS3));
    signature = std::move(*verified);
    request.context.principal = signature->principal;
  } else if (IsSigV2Url(request.query)) {
    auto principal = VerifySigV2Url(request.head, request.query, authority_, request.context.now);
    if (!principal) return SendError(request, ToAwsError(principal.error(), ErrorFamily::kS3));
    request.context.principal = std::move(*principal);
  }
  auto body =
      OpenS3Body({request.head, request.exchange.body(), request.claim ? &*request.claim : nullptr,
                  signature ? &*signature : nullptr});
  if (!body) return SendError(request, body.error());
  WatchedExchange exchange(request.exchange, [&] { return TraceLater(request); });
  s3_.Handle(exchange, request.context, **body);
}

// The request is over when its later answer is: with what the log and the metrics want to know of
// it kept until then.
std::function<void(unsigned)> Dispatcher::TraceLater(Request& request) {
  request.later = true;
  return [this, id = request.context.request_id, peer = request.head.peer,
          method = request.head.method, path = request.head.raw_path,
          by = request.context.principal.arn, start = request.start](unsigned status) {
    Finish({id, peer, method, path, "s3", method, by, start}, status);
  };
}

AwsResult<std::string> Dispatcher::ReadBody(Request& request) {
  const auto too_large = [this] {
    return Refuse("RequestEntityTooLargeException", 413,
                  "the request body must be at most {} bytes long", options_.json_body_max);
  };
  if (request.head.content_length.value_or(0) > options_.json_body_max) return too_large();
  auto body = ReadAll(request.exchange.body(), options_.json_body_max);
  if (body) return std::move(*body);
  if (body.error().code == ErrorCode::kResourceExhausted) return too_large();
  if (body.error().code == ErrorCode::kTimeout) {
    return Refuse("RequestTimeoutException", 408, "the request body came too slowly");
  }
  return Refuse("SerializationException", 400, "{}", body.error().message);
}

AwsResult<void> Dispatcher::Authenticate(Request& request, std::string_view service,
                                         std::string_view body) {
  const ErrorFamily family = FamilyOf(request.route);
  const auto refuse = [family](const AuthError& error) {
    return tl::unexpected<AwsError>(ToAwsError(error, family));
  };
  if (!request.claim) return refuse({AuthProblem::kMissing, "", {}});
  if (request.claim->scope.service != service) {
    return refuse({AuthProblem::kWrongScope,
                   fmt::format("Credential should be scoped to correct service: '{}'.", service),
                   {}});
  }
  std::string hash = Hex(Sha256Of(body));
  if (const auto announced = request.head.headers.Find("x-amz-content-sha256")) {
    if (*announced == kUnsignedPayload) {
      hash = *announced;
    } else if (!EqualsIgnoreCase(*announced, hash)) {
      return refuse(
          {AuthProblem::kMismatch, "x-amz-content-sha256 is not the hash of the body", {}});
    }
  }
  auto verified = verifier_.Verify(request.head, *request.claim, hash);
  if (!verified) return refuse(verified.error());
  request.context.principal = std::move(verified->principal);
  return {};
}

void Dispatcher::HandleService(Request& request) {
  const auto body = ReadBody(request);
  if (!body) return SendError(request, body.error());
  if (request.route.schema == nullptr) {
    const std::string service = request.claim ? request.claim->scope.service : "sagemaker";
    if (auto known = Authenticate(request, service, *body); !known) {
      return SendError(request, known.error());
    }
    return SendError(request, UnknownService(request.route));
  }
  if (auto called = CallAction(request, *body); !called) SendError(request, called.error());
}

AwsResult<const Operation*> Dispatcher::FindAction(Request& request, const std::string& body) {
  ServiceRoute& route = request.route;
  if (route.protocol == Protocol::kQuery) {
    auto form = QueryParameters::Parse(body);
    if (!form) return Refuse("MalformedQueryString", 400, "{}", form.error().message);
    route.action = form->Find("Action").value_or(request.query.Find("Action").value_or(""));
    if (route.action.empty()) {
      return Refuse("MissingAction", 400, "the request names no Action");
    }
  }
  const Operation* operation = route.schema->FindOperation(route.action);
  if (operation != nullptr) return operation;
  return Refuse(route.protocol == Protocol::kQuery ? "InvalidAction" : "UnknownOperationException",
                400, "the service '{}' has no action '{}'", route.service, route.action);
}

// An answer that is kept as text leaves without being built or copied.
AwsResult<void> Dispatcher::CallEncoded(Request& request, const EncodedHandler& handler,
                                        const json::object& input) {
  const auto answer = handler(request.context, input);
  if (!answer) return tl::make_unexpected(answer.error());
  Headers headers;
  headers.Add("Content-Type", std::string(ContentType(request.route.protocol)));
  headers.Add("x-amzn-RequestId", request.context.request_id);
  if (request.exchange.Begin(200, headers, (*answer)->size()))
    (void)request.exchange.Write(**answer);
  return {};
}

bool Dispatcher::CallLater(Request& request, const LaterHandler& handler, json::object& input) {
  auto answer = request.exchange.Later();
  if (!answer) return false;
  request.later = true;
  const auto waiting = std::make_shared<Waiting>(
      Waiting{std::move(answer),
              {*request.route.schema, *request.operation, request.route.protocol},
              request.context.request_id,
              request.head.peer,
              request.head.method,
              request.head.raw_path,
              request.context.principal.arn,
              request.start});
  handler(request.context, std::move(input),
          [this, waiting](AwsResult<json::object> output) { AnswerLater(*waiting, output); });
  return true;
}

void Dispatcher::AnswerLater(Waiting& waiting, const AwsResult<json::object>& output) {
  Response response =
      output ? EncodeSuccess(waiting.call, *output, waiting.id)
             : EncodeError(waiting.call.schema, waiting.call.protocol, output.error(), waiting.id);
  response.headers.Add("x-amzn-RequestId", waiting.id);
  // Before the answer is out: from then on a server that stops may take us with it.
  Finish({waiting.id, waiting.peer, waiting.method, waiting.path, waiting.call.schema.name,
          waiting.call.operation.name, waiting.by, waiting.start},
         response.status);
  waiting.answer->Send(response);
}

AwsResult<void> Dispatcher::CallAction(Request& request, const std::string& body) {
  const ServiceSchema& schema = *request.route.schema;
  if (auto known = Authenticate(request, schema.signing_name, body); !known) {
    return tl::make_unexpected(std::move(known).error());
  }
  const auto operation = FindAction(request, body);
  if (!operation) return tl::make_unexpected(operation.error());
  request.operation = *operation;
  request.metric_action = (*operation)->name;
  const ActionHandler* handler = actions_.Find(request.route.service, request.route.action);
  if (handler == nullptr) {
    return Refuse("UnsupportedOperation", 400,
                  "sabia does not implement the action '{}' of '{}' yet", request.route.action,
                  request.route.service);
  }
  const Call call{schema, **operation, request.route.protocol};
  auto input =
      DecodeRequest(call, {request.head.headers, request.query, body, request.route.labels});
  if (!input) return tl::make_unexpected(std::move(input).error());
  if ((*operation)->input != nullptr) {
    if (auto valid = Validate(*(*operation)->input, *input); !valid) {
      return tl::make_unexpected(std::move(valid).error());
    }
  }
  if (body.find("null") != std::string::npos) DropNullMembers(*input);
  if (const LaterHandler* later = actions_.FindLater(request.route.service, request.route.action);
      later != nullptr && CallLater(request, *later, *input)) {
    return {};
  }
  const bool json = call.protocol == Protocol::kJson10 || call.protocol == Protocol::kJson11;
  if (const EncodedHandler* encoded =
          actions_.FindEncoded(request.route.service, request.route.action);
      json && encoded != nullptr) {
    return CallEncoded(request, *encoded, *input);
  }
  const auto output = (*handler)(request.context, *input);
  if (!output) return tl::make_unexpected(output.error());
  Response response = EncodeSuccess(call, *output, request.context.request_id);
  response.headers.Add("x-amzn-RequestId", request.context.request_id);
  (void)request.exchange.Send(response);
  return {};
}

void Dispatcher::SendError(Request& request, const AwsError& error) {
  const std::string& id = request.context.request_id;
  LogDebug("request {} is refused: {} {}: {}", id, error.status, error.code, error.message);
  const ServiceRoute& route = request.route;
  if (route.destination == Destination::kS3) {
    (void)request.exchange.Send(S3ErrorResponse(error, request.head.raw_path, id));
    return;
  }
  if (route.schema == nullptr) {
    return SendJson(request, error.status, {{"__type", error.code}, {"message", error.message}});
  }
  Response response = EncodeError(*route.schema, route.protocol, error, id);
  response.headers.Add("x-amzn-RequestId", id);
  (void)request.exchange.Send(response);
}

void Dispatcher::SendJson(Request& request, unsigned status, const json::object& body) {
  Response response;
  response.status = status;
  response.headers.Add("Content-Type", request.route.destination == Destination::kInternal
                                           ? "application/json"
                                           : "application/x-amz-json-1.1");
  response.headers.Add("x-amzn-RequestId", request.context.request_id);
  response.body = json::serialize(body);
  (void)request.exchange.Send(response);
}

void Dispatcher::Finish(const Trace& trace, unsigned status) {
  const std::chrono::nanoseconds latency = clock_.Mono() - trace.start;
  metrics_.Record({trace.service, trace.action, status, latency});
  const LogLevel level = status >= 500 && status != 503 ? LogLevel::kError : LogLevel::kDebug;
  LogAt(level, "request id={} peer={} method={} path={} service={} action={} status={} us={} by={}",
        trace.id, trace.peer, trace.method, trace.path, trace.service, trace.action, status,
        latency.count() / 1000, trace.by);
}

}  // namespace sabia::wire
