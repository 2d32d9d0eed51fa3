#include "wire/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include "env/posix/posix_clock.h"
#include "env/testing/temporary_directory.h"
#include "wire/testing/raw_client.h"

namespace sabia::wire {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FunctionHandler final : public Handler {
 public:
  explicit FunctionHandler(std::function<void(Exchange&)> function)
      : function_(std::move(function)) {}
  void Handle(Exchange& exchange) override { function_(exchange); }

 private:
  std::function<void(Exchange&)> function_;
};

// Answers what it was asked: method, path, query and body; failures to read the body by their code.
void Echo(Exchange& exchange) {
  const RequestHead& head = exchange.head();
  auto body = ReadAll(exchange.body(), 1 << 20);
  if (!body) {
    const unsigned status = body.error().code == ErrorCode::kTimeout             ? 408
                            : body.error().code == ErrorCode::kResourceExhausted ? 413
                                                                                 : 400;
    (void)exchange.Send({status, {}, body.error().message});
    return;
  }
  Response response;
  response.headers.Add("X-Path", head.raw_path);
  response.body = fmt::format("{} {} {} [{}]", head.method, head.raw_path, head.raw_query, *body);
  (void)exchange.Send(response);
}

class HttpServerTest : public ::testing::Test {
 protected:
  std::uint16_t Serve(std::function<void(Exchange&)> handler = Echo) {
    handler_ = std::make_unique<FunctionHandler>(std::move(handler));
    options_.listeners.resize(1);
    auto server = HttpServer::Start(options_, *handler_, clock_);
    CHECK_MSG(server.has_value(), server.error().message);
    server_ = std::move(*server);
    return server_->port(0);
  }

  env::PosixClock clock_;
  HttpServerOptions options_;
  std::unique_ptr<FunctionHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, KeepsAConnectionForManyRequests) {
  RawClient client(Serve());
  for (int i = 0; i < 3; ++i) {
    const std::string answer = client.Ask("GET /a%2Fb?x=1 HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nDate: "));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nGET /a%2Fb x=1 []"));
  }
  EXPECT_EQ(server_->stats().accepted, 1u);
  EXPECT_EQ(server_->stats().requests, 3u);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  RawClient client(Serve());
  client.Send(
      "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: "
      "h\r\n\r\n"
      "POST /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\nT: "
      "v\r\n\r\n"
      "\r\nGET /4 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("POST /1  [abc]"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /2  []"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("POST /3  [hi]"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /4  []"));
}

TEST_F(HttpServerTest, TakesAHeadAndABodyByteByByte) {
  RawClient client(Serve());
  for (const char c : std::string("PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n")) {
    client.Send(std::string_view(&c, 1));
  }
  EXPECT_THAT(client.ReadAnswer(), EndsWith("PUT /x  [abcd]"));
}

TEST_F(HttpServerTest, SaysTheLengthOfAHeadAnswerAndSendsNoBody) {
  RawClient client(Serve());
  client.Send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string answer = client.ReadAnswer(true);
  EXPECT_THAT(answer, HasSubstr("Content-Length: 11\r\n"));
  EXPECT_THAT(client.Ask("GET /y HTTP/1.1\r\nHost: h\r\n\r\n"), EndsWith("GET /y  []"));
}

TEST_F(HttpServerTest, SpeaksHttp10AndAbsoluteTargets) {
  const std::uint16_t port = Serve();
  RawClient old(port);
  EXPECT_THAT(old.Ask("GET /x HTTP/1.0\r\n\r\n"), HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(old.ReadToEnd(), "");
  RawClient kept(port);
  EXPECT_THAT(kept.Ask("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_THAT(kept.Ask("GET http://other:1/p/q?r HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              EndsWith("GET /p/q r []"));
  EXPECT_EQ(kept.ReadToEnd(), "");
  EXPECT_TRUE(kept.closed());
}

TEST_F(HttpServerTest, ContinuesOnlyWhenTheBodyIsRead) {
  const std::uint16_t port = Serve([](Exchange& exchange) {
    if (exchange.head().raw_path == "/read") return Echo(exchange);
    (void)exchange.Send({403, {}, "no"});
  });
  RawClient reader(port);
  reader.Send("PUT /read HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(reader.ReadAnswer(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(reader.Ask("ok"), EndsWith("[ok]"));
  RawClient refused(port);
  const std::string answer = refused.Ask(
      "PUT /no HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(refused.ReadToEnd(), "");
}

struct BadRequest {
  const char* name;
  std::string bytes;
  const char* status;
};

class BadRequestTest : public HttpServerTest, public ::testing::WithParamInterface<BadRequest> {};

TEST_P(BadRequestTest, IsRefusedAndTheConnectionCloses) {
  RawClient client(Serve());
  client.Send(GetParam().bytes);
  client.FinishSending();
  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, StartsWith(std::string("HTTP/1.1 ") + GetParam().status));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.closed());
  RawClient next(server_->port(0));
  EXPECT_THAT(next.Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

std::string Head(const std::string& fields) {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + fields + "\r\nabc";
}
std::string ManyFields(int n) {
  std::string fields;
  for (int i = 0; i < n; ++i) fields += fmt::format("f{}: v\r\n", i);
  return fields;
}

INSTANTIATE_TEST_SUITE_P(
    HttpServer, BadRequestTest,
    ::testing::Values(
        BadRequest{"TlsHello", std::string("\x16\x03\x01\x02\x00", 5), "400"},
        BadRequest{"LengthAndChunked", Head("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
                   "400"},
        BadRequest{"ChunkedAndLength", Head("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
                   "400"},
        BadRequest{"TwoLengths", Head("Content-Length: 3\r\nContent-Length: 3\r\n"), "400"},
        BadRequest{"LengthList", Head("Content-Length: 3, 3\r\n"), "400"},
        BadRequest{"SignedLength", Head("Content-Length: +3\r\n"), "400"},
        BadRequest{"HugeLength", Head("Content-Length: 99999999999999999999\r\n"), "400"},
        BadRequest{"TooLongBody", Head("Content-Length: 999999999999999\r\n"), "413"},
        BadRequest{"UnknownEncoding", Head("Transfer-Encoding: gzip, chunked\r\n"), "501"},
        BadRequest{"DisguisedEncoding", Head("Transfer-Encoding: xchunked\r\n"), "501"},
        BadRequest{"OldChunked", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                   "400"},
        BadRequest{"NoHost", "GET / HTTP/1.1\r\n\r\n", "400"},
        BadRequest{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
        BadRequest{"BlankInName", Head("Content-Length : 3\r\n"), "400"},
        BadRequest{"NewVersion", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", "505"},
        BadRequest{"NoTarget", "GET HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
        BadRequest{"Authority", "CONNECT a:1 HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
        BadRequest{"OddExpectation", Head("Expect: wonders\r\n"), "417"},
        BadRequest{"ManyFields", Head(ManyFields(200)), "431"},
        BadRequest{"HugeField", Head("x: " + std::string(70 << 10, 'a') + "\r\n"), "431"},
        BadRequest{"BadChunk",
                   "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
        BadRequest{"LongChunkLine",
                   "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                       std::string(100 << 10, 'a'),
                   "400"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(HttpServerTest, CutsASlowHeadWith408) {
  options_.limits.header_timeout = Millis(40);
  options_.tick = Millis(5);
  RawClient client(Serve());
  client.Send("GET / HT");
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_GE(server_->stats().timeouts, 1u);
}

TEST_F(HttpServerTest, ClosesAnIdleConnectionSilently) {
  options_.limits.idle_timeout = Millis(40);
  options_.tick = Millis(5);
  RawClient client(Serve());
  client.Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpServerTest, CutsABodyThatStalls) {
  options_.limits.stream.stall = Millis(30);
  RawClient client(Serve());
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408"));
}

TEST_F(HttpServerTest, CutsABodyThatTrickles) {
  options_.limits.stream.stall = Millis(60'000);
  options_.limits.stream.grace = Millis(50);
  options_.limits.linger = Millis(20);
  options_.tick = Millis(5);
  const std::uint16_t port = Serve();
  RawClient client(port);
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::thread trickle([&client] {
    pollfd nothing{-1, 0, 0};
    while (client.Send("1\r\na\r\n")) ::poll(&nothing, 1, 2);
  });
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408"));
  trickle.join();
}

TEST_F(HttpServerTest, RefusesAnEndlessChunkedBody) {
  RawClient client(Serve());
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  for (int i = 0; i < 1000 && client.Send(chunk); ++i) {
  }
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpServerTest, ANewClientIsServedBesideAThousandIdleOnes) {
  const std::uint16_t port = Serve();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 1000; ++i) {
    idle.push_back(std::make_unique<RawClient>(port));
    if (i % 2 == 0) idle.back()->Send("GET /half HTTP/1.1\r\n");
  }
  RawClient client(port);
  EXPECT_THAT(client.Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(server_->stats().connections, 1001u);
  EXPECT_LE(server_->stats().threads, options_.threads + 8);
  EXPECT_THAT(idle[500]->Ask("Host: h\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, RejectsConnectionsAboveTheLimit) {
  options_.connections_max = 1;
  const std::uint16_t port = Serve();
  RawClient first(port);
  first.Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  RawClient second(port);
  EXPECT_THAT(second.ReadToEnd(), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(server_->stats().rejected_connections, 1u);
}

// All handlers wait for each other: only a pool that grows to their number lets them through.
TEST_F(HttpServerTest, ThePoolGrowsWhileHandlersBlock) {
  constexpr int kClients = 20;
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  options_.threads = 2;
  const std::uint16_t port = Serve([&](Exchange& exchange) {
    {
      std::unique_lock lock(mutex);
      ++inside;
      changed.notify_all();
      changed.wait_for(lock, Seconds(20), [&] { return inside >= kClients; });
    }
    (void)exchange.Send({200, {}, "in"});
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    clients.back()->Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  for (const auto& client : clients) EXPECT_THAT(client->ReadAnswer(), EndsWith("in"));
  EXPECT_GE(server_->stats().threads, static_cast<std::size_t>(kClients));
}

// Workers above the least leave after a quiet time, all others stay and serve.
TEST_F(HttpServerTest, ThePoolShrinksToItsLeastAndNoFurther) {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  options_.threads = 2;
  options_.thread_idle = Millis(20);
  const std::uint16_t port = Serve([&](Exchange& exchange) {
    {
      std::unique_lock lock(mutex);
      ++inside;
      changed.notify_all();
      changed.wait_for(lock, Seconds(20), [&] { return inside >= 10; });
    }
    (void)exchange.Send({200, {}, "in"});  // after this the test may end, and the mutex with it
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    clients.back()->Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  for (const auto& client : clients) EXPECT_THAT(client->ReadAnswer(), EndsWith("in"));
  pollfd nothing{-1, 0, 0};
  for (int i = 0; i < 2000 && server_->stats().threads > 2; ++i) ::poll(&nothing, 1, 5);
  EXPECT_EQ(server_->stats().threads, 2u);
  ::poll(&nothing, 1, 60);
  EXPECT_EQ(server_->stats().threads, 2u);
  EXPECT_THAT(clients[0]->Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), EndsWith("in"));
}

TEST_F(HttpServerTest, SendsFilesAndLongAnswers) {
  const env::TemporaryDirectory directory;
  std::string content(5 << 20, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 >> 3);
  const env::Path path = directory.path() / "file";
  std::ofstream(path, std::ios::binary) << content;
  const std::uint16_t port = Serve([&](Exchange& exchange) {
    auto file = env::OpenFile(path, 0);
    ASSERT_TRUE(file);
    const std::uint64_t length = exchange.head().raw_path == "/small" ? 100 : content.size() - 7;
    (void)exchange.Begin(206, {}, length + 3);
    (void)exchange.SendFile(file->get(), 7, length);
    (void)exchange.Write("end");
  });
  RawClient client(port);
  const std::string large = client.Ask("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(large, StartsWith("HTTP/1.1 206 Partial Content\r\n"));
  EXPECT_TRUE(large.ends_with("\r\n\r\n" + content.substr(7) + "end"));
  const std::string small = client.Ask("GET /small HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(small.ends_with("\r\n\r\n" + content.substr(7, 100) + "end"));
}

TEST_F(HttpServerTest, AnswersOfUnknownLengthGoInChunks) {
  const std::uint16_t port = Serve([](Exchange& exchange) {
    (void)ReadAll(exchange.body(), 1 << 20);
    (void)exchange.BeginChunked(200, {});
    (void)exchange.Write(" ");
    (void)exchange.Write("");
    (void)exchange.Write(std::string(20'000, 'x'));
    if (exchange.head().raw_path != "/cut") (void)exchange.End();
  });
  const std::string body = "1\r\n \r\n4e20\r\n" + std::string(20'000, 'x') + "\r\n";
  RawClient client(port);
  client.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /cut HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string both = client.ReadToEnd();
  const auto second = both.find("HTTP/1.1 200", 1);
  ASSERT_NE(second, std::string::npos) << "the connection serves another request";
  EXPECT_THAT(both.substr(0, second), HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(both.substr(0, second), Not(HasSubstr("Content-Length")));
  EXPECT_THAT(both.substr(0, second), EndsWith("\r\n\r\n" + body + "0\r\n\r\n"));
  EXPECT_THAT(both, EndsWith(body)) << "an answer that was not ended looks cut off";

  RawClient old(port);
  old.Send("GET / HTTP/1.0\r\n\r\n");
  const std::string answer = old.ReadToEnd();
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n " + std::string(20'000, 'x')));
}

TEST_F(HttpServerTest, AHandlerThatThrowsOrSaysNothingGets500) {
  const std::uint16_t port = Serve([](Exchange& exchange) {
    if (exchange.head().raw_path == "/throw") throw std::runtime_error("a bug");
  });
  RawClient client(port);
  EXPECT_THAT(client.Ask("GET /throw HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(client.Ask("GET /quiet HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 500"));
}

TEST_F(HttpServerTest, AnUnreadBodyIsDrainedOrTheConnectionCloses) {
  const std::uint16_t port = Serve([](Exchange& exchange) {
    (void)exchange.Send({404, {}, "no"});
  });
  RawClient client(port);
  EXPECT_THAT(client.Ask("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"),
              Not(HasSubstr("close")));
  EXPECT_THAT(client.Ask("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 90000000\r\n\r\nabc"),
              HasSubstr("Connection: close"));
}

TEST_F(HttpServerTest, ValuesCannotInjectFields) {
  RawClient client(Serve([](Exchange& exchange) {
    Response response;
    response.headers.Add("X", "a\r\nEvil: b");
    (void)exchange.Send(response);
  }));
  EXPECT_THAT(client.Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), Not(HasSubstr("\nEvil")));
}

TEST_F(HttpServerTest, StopLetsARunningRequestFinish) {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false;
  bool go = false;
  const std::uint16_t port = Serve([&](Exchange& exchange) {
    std::unique_lock lock(mutex);
    inside = true;
    changed.notify_all();
    changed.wait(lock, [&] { return go; });
    (void)exchange.Send({200, {}, "done"});
  });
  RawClient client(port);
  client.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside; });
  }
  std::thread stopper([&] { server_->Stop(Seconds(20)); });
  {
    const std::scoped_lock lock(mutex);
    go = true;
  }
  changed.notify_all();
  EXPECT_THAT(client.ReadToEnd(), EndsWith("done"));
  stopper.join();
  EXPECT_EQ(server_->stats().threads, 0u);
}

// Keeps answers until the test gives them.
class Shelf {
 public:
  void Put(std::unique_ptr<LaterAnswer> answer) {
    const std::scoped_lock lock(mutex_);
    answers_.push_back(std::move(answer));
    changed_.notify_all();
  }
  std::unique_ptr<LaterAnswer> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !answers_.empty(); });
    auto answer = std::move(answers_.front());
    answers_.erase(answers_.begin());
    return answer;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<LaterAnswer>> answers_;
};

constexpr char kGet[] = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";

TEST_F(HttpServerTest, AnswersLaterWithoutHoldingAThread) {
  Shelf shelf;
  options_.threads = options_.threads_max = 1;
  const std::uint16_t port = Serve([&](Exchange& exchange) {
    auto later = exchange.Later();
    ASSERT_TRUE(later);
    EXPECT_TRUE(exchange.answered());
    shelf.Put(std::move(later));
  });
  RawClient first(port);
  RawClient second(port);
  first.Send(kGet);
  auto first_answer = shelf.Take();
  second.Send(kGet);
  auto second_answer = shelf.Take();
  second_answer->Send({200, {}, "second"});
  EXPECT_THAT(second.ReadAnswer(), EndsWith("\r\n\r\nsecond"));
  first_answer->Send({404, {}, "first"});
  const std::string answer = first.ReadAnswer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 Not Found\r\nDate: "));
  EXPECT_THAT(answer, EndsWith("Content-Length: 5\r\n\r\nfirst"));
  first.Send("HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  shelf.Take()->Send({200, {}, "three"});
  EXPECT_THAT(first.ReadToEnd(), EndsWith("Content-Length: 5\r\nConnection: close\r\n\r\n"));
}

TEST_F(HttpServerTest, AnAnswerThatIsDroppedIs500) {
  RawClient client(Serve([&](Exchange& exchange) { exchange.Later().reset(); }));
  EXPECT_THAT(client.Ask(kGet), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpServerTest, APipelinedRequestIsNotAnsweredLater) {
  RawClient client(Serve([&](Exchange& exchange) {
    if (auto later = exchange.Later()) return later->Send({200, {}, "later"});
    (void)exchange.Send({200, {}, "at once"});
  }));
  client.Send(std::string(kGet) + kGet);
  EXPECT_THAT(client.ReadAnswer(), EndsWith("at once"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("later"));
}

// Goal: a client that does not read cannot hold up the one who answers, and gets all in the end.
TEST_F(HttpServerTest, AnAnswerThatFindsNoRoomIsSentByAWorker) {
  Shelf shelf;
  RawClient client(Serve([&](Exchange& exchange) { shelf.Put(exchange.Later()); }));
  const std::string body(16 << 20, 'x');
  for (const char* more : {"", "Connection: close\r\n"}) {
    client.Send(fmt::format("GET /x HTTP/1.1\r\nHost: h\r\n{}\r\n", more));
    shelf.Take()->Send({200, {}, body});
    EXPECT_THAT(client.ReadAnswer(), EndsWith(body));
  }
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, StopWaitsForAnswersThatComeLater) {
  Shelf shelf;
  RawClient client(Serve([&](Exchange& exchange) { shelf.Put(exchange.Later()); }));
  client.Send(kGet);
  auto answer = shelf.Take();
  std::thread stopper([&] { server_->Stop(Millis(60'000)); });
  answer->Send({200, {}, "late"});
  stopper.join();
  EXPECT_THAT(client.ReadAnswer(), EndsWith("late"));
}

TEST_F(HttpServerTest, ATakenPortIsNamed) {
  const std::uint16_t port = Serve();
  HttpServerOptions second;
  second.listeners.push_back({.address = "127.0.0.1", .port = port, .transports = nullptr});
  const auto server = HttpServer::Start(second, *handler_, clock_);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(server.error().message, HasSubstr(std::to_string(port)));
}

}  // namespace
}  // namespace sabia::wire
