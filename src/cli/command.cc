#include "cli/command.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sabia::cli {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

env::Path DefaultHome() {
  if (const std::string home = Environment("SABIA_HOME"); !home.empty()) return home;
  if (::geteuid() == 0) return "/var/lib/sabia";
  if (const std::string data = Environment("XDG_DATA_HOME"); !data.empty()) {
    return env::Path(data) / "sabia";
  }
  std::string home = Environment("HOME");
  if (home.empty()) {
    const passwd* entry = ::getpwuid(::geteuid());
    home = entry == nullptr ? "/" : entry->pw_dir;
  }
  return env::Path(home) / ".local/share/sabia";
}

}  // namespace

store::Paths Invocation::paths() const {
  const env::Path chosen = home.empty() ? DefaultHome() : env::Path(home);
  return store::Paths(std::filesystem::absolute(chosen).lexically_normal());
}

int Complain(const Error& error) {
  std::fprintf(stderr, "sabia: %s\n", error.message.c_str());
  return error.code == ErrorCode::kUnavailable ? kExitNoDaemon : kExitFailed;
}

std::string ShellQuote(std::string_view value) {
  std::string out = "'";
  for (const char c : value) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string Printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const bool control = (c >= 0 && c < ' ') || c == 0x7F;
    if (control && c != '\n' && c != '\t') c = '?';
  }
  return out;
}

bool UseColor() {
  return ::isatty(STDOUT_FILENO) == 1 && Environment("NO_COLOR").empty() &&
         Environment("TERM") != "dumb";
}

}  // namespace sabia::cli
