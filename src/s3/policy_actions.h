// Which permission each operation of the API asks for, and the actions that policies may name.
// Facts of the IAM reference; pure.
#pragma once

#include <string>
#include <string_view>

namespace sabia::s3 {

// "s3:GetObject" of GetObject; "s3:GetObjectVersion" when a version is named.
std::string ActionOf(std::string_view operation, bool names_version);

// What resources an action is about. Lower-case patterns as policies have them: "s3:get*".
struct ActionKinds {
  bool known = false;  // at least one action matches
  bool on_bucket = false;
  bool on_object = false;
};
ActionKinds KindsOf(std::string_view lower_pattern);

}  // namespace sabia::s3
