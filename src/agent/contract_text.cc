#include "agent/contract_text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sabia::agent {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

// Below the instance directory, where the program sees it: the longest first.
Names NamesBelow(const model::InstanceSpec& spec, const Layout& layout) {
  Names out = {
      {layout.root().native(), kOptMl},  {layout.tmp().native(), "/tmp"},
      {layout.home().native(), "/root"}, {layout.bin().native(), kSandboxBin},
      {layout.etc().native(), "/etc"},   {layout.source_archive().native(), "the source archive"}};
  for (std::size_t i = 0; i < spec.channels.size(); ++i) {
    const std::string seen = std::string(kOptMl) + "/input/data/" + spec.channels[i].name;
    for (const char* layer : {"lower", "upper", "work"}) {
      out.emplace_back((layout.channel_scratch(i) / layer).native(), seen);
    }
  }
  const std::string& checkpoints = spec.checkpoint_local_path;
  if (!spec.checkpoint_s3_uri.empty() && !checkpoints.starts_with(std::string(kOptMl) + "/")) {
    out.emplace_back(layout.Checkpoints(checkpoints).native(), checkpoints);
  }
  out.emplace_back(layout.scratch().native() + "/", "");
  out.emplace_back(layout.directory().native() + "/", "");
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return out;
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string ContractText(const model::InstanceSpec& spec, const Layout& layout, std::string text) {
  const auto apply = [&](const Layout& from) {
    if (text.find(from.directory().native()) == text.npos) return;
    for (const auto& [ours, theirs] : NamesBelow(spec, from)) ReplaceAll(text, ours, theirs);
  };
  apply(layout);
  std::error_code ec;
  const Path resolved = std::filesystem::canonical(layout.directory(), ec);
  if (!ec && resolved != layout.directory()) apply(Layout(resolved));
  return text;
}

StartProblem ReadStartProblem(std::string line) {
  constexpr std::string_view kRun = "execvp ";
  for (const std::string_view who : {"bwrap: ", "sabia: "}) {
    if (line.starts_with(who)) line.erase(0, who.size());
  }
  if (!line.starts_with(kRun)) return {std::move(line), false};
  line.erase(0, kRun.size());
  const auto reason = line.rfind(": ");
  if (reason == line.npos) return {"'" + line + "' cannot be run", true};
  return {"'" + line.substr(0, reason) + "'" + line.substr(reason), true};
}

}  // namespace sabia::agent
