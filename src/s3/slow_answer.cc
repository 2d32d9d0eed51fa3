#include "s3/slow_answer.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "wire/s3_error.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

class Whitespace {
 public:
  Whitespace(S3Call& call, Millis interval) : call_(call), interval_(interval) {
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error& error) {
      LogWarn("no thread to keep a client waiting: {}", error.what());
    }
  }
  ~Whitespace() { Stop(); }

  // Whether an answer was begun. Nothing is written afterwards.
  bool Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    return begun_;
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, interval_, [this] { return stopping_; })) {
      if (!Send()) return;  // a client that is gone is told nothing
    }
  }

  bool Send() {
    if (begun_) return call_.exchange.Write(" ").has_value();
    begun_ = true;
    wire::Headers headers;
    headers.Add("Content-Type", "application/xml");
    AddCommon(call_, headers);
    return call_.exchange.BeginChunked(200, headers) && call_.exchange.Write(kDeclaration);
  }

  S3Call& call_;
  const Millis interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool begun_ = false;
  std::thread thread_;
};

}  // namespace

S3Result AnswerXmlWhenDone(S3Call& call, const std::function<wire::AwsResult<XmlAnswer>()>& work,
                           Millis interval) {
  Whitespace whitespace(call, interval);
  wire::AwsResult<XmlAnswer> result = work();
  if (!whitespace.Stop()) {
    if (!result) return tl::unexpected<wire::AwsError>(std::move(result).error());
    return AnswerXml(call, std::move(result->document), std::move(result->headers));
  }
  const std::string& path = call.exchange.head().raw_path;
  if (!result && result.error().status >= 500) {
    LogError("S3 {} {} failed late: {}", call.exchange.head().method, path, result.error().message);
  }
  const std::string document =
      result ? std::move(result->document)
             : wire::S3ErrorResponse(result.error(), path, call.context.request_id).body;
  std::string_view rest = document;
  if (rest.starts_with(kDeclaration)) rest.remove_prefix(kDeclaration.size());
  if (call.exchange.Write(rest)) (void)call.exchange.End();
  return {};
}

}  // namespace sabia::s3
