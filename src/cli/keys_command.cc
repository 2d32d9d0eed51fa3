#include <cstdio>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"
#include "env/posix/posix_random.h"
#include "objects/key_ring.h"
#include "store/home.h"

namespace sabia::cli {
namespace {

// Works on the files, so it needs no daemon; one that runs sees new keys at once.
class Ring {
 public:
  static Result<std::unique_ptr<Ring>> Open(const store::Paths& paths) {
    std::unique_ptr<Ring> out(new Ring());
    ASSIGN_OR_RETURN(const store::Account account, store::Home::ReadAccount(paths, out->files_));
    out->ring_ = std::make_unique<objects::KeyRing>(
        objects::KeyRingOptions{objects::KeyDirectory(paths), account.id, account.region},
        out->files_, out->clock_, out->random_);
    return out;
  }
  objects::KeyRing& operator*() { return *ring_; }
  objects::KeyRing* operator->() { return ring_.get(); }

 private:
  Ring() = default;

  env::PosixFiles files_;
  env::PosixClock clock_;
  env::PosixRandom random_;
  std::unique_ptr<objects::KeyRing> ring_;
};

json::object ToJson(objects::KeyRing& ring, const objects::MasterKey& key) {
  json::object out{{"KeyId", key.id}, {"Use", key.use}, {"Created", FormatIso8601(key.created)}};
  if (key.use == objects::kKmsKeys) out["Arn"] = ring.ArnOf(key.id);
  if (!key.alias.empty()) out["Alias"] = key.alias;
  return out;
}

int List(const Invocation& invocation, bool as_json) {
  auto ring = Ring::Open(invocation.paths());
  if (!ring) return Complain(ring.error());
  const auto keys = (**ring)->List();
  if (!keys) return Complain(keys.error());
  if (as_json) {
    json::array list;
    for (const objects::MasterKey& key : *keys) list.push_back(ToJson(***ring, key));
    std::printf("%s\n", json::serialize(json::object{{"Keys", std::move(list)}}).c_str());
    return kExitDone;
  }
  Table table({"KEY", "USE", "ALIAS", "CREATED"});
  for (const objects::MasterKey& key : *keys) {
    table.Add({key.id, key.use, key.alias.empty() ? "-" : key.alias, LocalTime(key.created)});
  }
  std::printf("%s", table.ToString().c_str());
  return kExitDone;
}

int Make(const Invocation& invocation, std::string_view use, const std::string& alias) {
  auto ring = Ring::Open(invocation.paths());
  if (!ring) return Complain(ring.error());
  const auto key = (**ring)->Create(use, alias);
  if (!key) return Complain(key.error());
  std::printf("%s\n",
              use == objects::kKmsKeys ? (**ring)->ArnOf(key->id).c_str() : key->id.c_str());
  return kExitDone;
}

std::string CheckAlias(const std::string& alias) {
  const bool good = alias.starts_with("alias/") && alias.size() > 6 && alias.size() <= 256 &&
                    !alias.starts_with("alias/aws/") &&
                    alias.find_first_not_of(
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789/_-") == std::string::npos;
  return good ? ""
              : "an alias is 'alias/' and letters, digits, '/', '_' and '-'; not 'alias/aws/…'";
}

}  // namespace

void AddKeysCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("keys", "Master keys of encrypted objects");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "Which there are");
  auto as_json = std::make_shared<bool>(false);
  list->add_flag("--json", *as_json, "Print JSON");
  list->callback([&invocation, as_json] {
    invocation.run = [&invocation, as_json] { return List(invocation, *as_json); };
  });
  CLI::App* create = command->add_subcommand("create", "A new key for SSE-KMS; prints its ARN");
  auto alias = std::make_shared<std::string>();
  create->add_option("--alias", *alias, "Another name for it: alias/NAME")->check(CheckAlias);
  create->callback([&invocation, alias] {
    invocation.run = [&invocation, alias] { return Make(invocation, objects::kKmsKeys, *alias); };
  });
  CLI::App* rotate = command->add_subcommand(
      "rotate",
      "A new key for SSE-S3: it seals what is written from now on; older ones still open");
  rotate->callback([&invocation] {
    invocation.run = [&invocation] { return Make(invocation, objects::kS3Keys, ""); };
  });
  command->footer(
      "Keys lie in the home's directory keys/, mode 0600. Who loses one loses what was "
      "encrypted under it: back them up, apart from the objects.");
}

}  // namespace sabia::cli
