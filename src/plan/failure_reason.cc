#include "plan/failure_reason.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace sabia::plan {
namespace {

// Lines below this length say too little to be worth cutting to.
constexpr std::size_t kLinesWorthKeeping = 40;

bool StartsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::size_t CountCharacters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += StartsCharacter(byte) ? 1 : 0;
  return count;
}

std::string Cut(std::string text) { return FirstCharacters(text, kReasonCharsMax); }

// What a program wrote, fit to be shown: no control characters but tabs and line ends, none at the
// end.
std::string Shown(std::string text) {
  for (char& c : text) {
    const bool control = (c >= 0 && c < ' ') || c == 0x7F;
    if (control && c != '\n' && c != '\t') c = ' ';
  }
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

int ExitCodeOf(const model::Report& report) {
  constexpr int kShellSignalBase = 128;  // how shells and container engines print a death by signal
  if (report.exit_code) return *report.exit_code;
  return report.signal ? kShellSignalBase + *report.signal : 0;
}

std::string CauseOf(const model::Report& report, const model::InstanceRecord& instance) {
  if (report.out_of_memory) {
    const double gib = static_cast<double>(instance.memory_bytes) / (1 << 30);
    return fmt::format(
        "out of memory: the program needed more than the {:.1f} GiB of {} and was killed", gib,
        instance.instance_type);
  }
  if (report.signal) return "the program was killed by " + SignalText(*report.signal);
  return "the program ended with an error";
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string joined;
  for (const std::string& line : lines) {
    if (!joined.empty()) joined += '\n';
    joined += line;
  }
  return joined;
}

// Adds the piece if it fits whole.
void AddIfItFits(std::string& text, std::string_view piece) {
  if (CountCharacters(text) + CountCharacters(piece) <= kReasonCharsMax) text += piece;
}

}  // namespace

std::string FirstCharacters(std::string_view text, std::size_t limit) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (StartsCharacter(text[i]) && count++ == limit) return std::string(text.substr(0, i));
  }
  return std::string(text);
}

std::string LastCharacters(std::string_view text, std::size_t limit) {
  const std::size_t total = CountCharacters(text);
  if (total <= limit) return std::string(text);
  if (limit == 0) return "";
  std::size_t skip = total - (limit - 1);  // one character for the ellipsis
  std::size_t i = 0;
  while (i < text.size()) {
    if (StartsCharacter(text[i]) && skip-- == 0) break;
    ++i;
  }
  return "…" + std::string(text.substr(i));
}

std::string SignalText(int signal) {
  static constexpr std::array<std::pair<int, std::string_view>, 10> kNames = {{
      {1, "SIGHUP"},
      {2, "SIGINT"},
      {3, "SIGQUIT"},
      {4, "SIGILL"},
      {6, "SIGABRT"},
      {7, "SIGBUS"},
      {8, "SIGFPE"},
      {9, "SIGKILL"},
      {11, "SIGSEGV"},
      {15, "SIGTERM"},
  }};
  for (const auto& [number, name] : kNames) {
    if (number == signal) return fmt::format("signal {} ({})", signal, name);
  }
  return fmt::format("signal {}", signal);
}

std::string AlgorithmFailure(const model::Report& report, const model::InstanceRecord& instance) {
  const std::string exit = fmt::format(", exit code: {}", ExitCodeOf(report));
  const std::string stream = fmt::format(
      "\nLog stream: {} of {}", model::TrainingLogStream(instance), model::kTrainingLogGroup);
  const std::string cause = CauseOf(report, instance);
  if (!report.failure_file.empty()) {
    std::string text = Cut("AlgorithmError: " + Shown(report.failure_file));
    AddIfItFits(text, exit);
    if (report.out_of_memory || report.signal) AddIfItFits(text, " (" + cause + ")");
    AddIfItFits(text, stream);
    return text;
  }
  std::string text = fmt::format("AlgorithmError: {} on {}{}", cause, instance.Host(), exit);
  const std::string lines = Shown(JoinLines(report.last_lines));
  constexpr std::string_view kHeading = "\nLast lines:\n";
  const std::size_t used = CountCharacters(text) + CountCharacters(stream) + kHeading.size();
  if (!lines.empty() && used + kLinesWorthKeeping <= kReasonCharsMax) {
    text += kHeading;
    text += LastCharacters(lines, kReasonCharsMax - used);
  }
  AddIfItFits(text, stream);
  return Cut(std::move(text));
}

std::string ClientFailure(std::string_view cause) {
  return Cut("ClientError: " + std::string(cause));
}

std::string CapacityFailure(std::string_view cause) {
  return Cut(
      fmt::format("CapacityError: Unable to provision requested ML compute capacity. Please retry "
                  "using a different ML "
                  "instance type. ({})",
                  cause));
}

std::string InternalFailure(std::string_view cause) {
  return Cut(fmt::format(
      "InternalServerError: We encountered an internal error. Please try again. ({})", cause));
}

}  // namespace sabia::plan
