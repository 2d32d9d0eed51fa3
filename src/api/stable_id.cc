#include "api/stable_id.h"

namespace sabia::api {
namespace {

constexpr std::uint64_t kFnvStart = 14695981039346656037u;
constexpr std::uint64_t kFnvPrime = 1099511628211u;

std::uint64_t Mix(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

}  // namespace

std::uint64_t StableHash(std::string_view text) { return Mix(kFnvStart, text); }

std::string StableRoleId(std::string_view role_name) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  constexpr int kIdLetters = 17;
  std::string id = "AROA";
  std::uint64_t hash = kFnvStart;
  for (int i = 0; i < kIdLetters; ++i) {
    hash = Mix(Mix(hash, role_name), "/");
    id += kLetters[(hash >> 32) % kLetters.size()];
  }
  return id;
}

}  // namespace sabia::api
