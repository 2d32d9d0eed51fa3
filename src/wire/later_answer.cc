#include "wire/later_answer.h"

#include <utility>

#include "base/check.h"

namespace sabia::wire {
namespace {

class TakenAnswer final : public LaterAnswer {
 public:
  explicit TakenAnswer(TakenConnection taken) : taken_(std::move(taken)) { taken_.owner.LetGo(); }
  ~TakenAnswer() override {
    if (taken_.connection != nullptr) Send({500, {}, "the request was not answered\n"});
  }

  void Send(const Response& response) override {
    CHECK(taken_.connection != nullptr);
    Connection* const connection = std::exchange(taken_.connection, nullptr);
    const bool bare = HasNoBody(response.status);
    std::string out;
    out.reserve(512 + response.body.size());
    AppendHead(out, {response.status, response.headers,
                     bare ? std::nullopt : std::optional<std::uint64_t>(response.body.size()),
                     taken_.date, taken_.keep_alive, taken_.http_1_0});
    if (!bare && !taken_.head_only) out.append(response.body);
    connection->ends = !taken_.keep_alive;
    const bool usable = SendWhatFits(*connection, std::move(out));
    taken_.owner.TakeBack(connection, !usable || (connection->ends && connection->unsent.empty()));
  }

 private:
  // Whether the connection is still good.
  static bool SendWhatFits(Connection& connection, std::string out) {
    std::string_view left = out;
    while (!left.empty()) {
      const IoResult step = connection.transport->Write(left, "");
      if (step.status == IoStatus::kWantRead || step.status == IoStatus::kWantWrite) {
        connection.unsent = left;
        return true;
      }
      if (step.status != IoStatus::kDone) return false;
      left.remove_prefix(step.bytes);
    }
    return true;
  }

  TakenConnection taken_;
};

}  // namespace

std::unique_ptr<LaterAnswer> TakeConnection(TakenConnection taken) {
  return std::make_unique<TakenAnswer>(std::move(taken));
}

}  // namespace sabia::wire
