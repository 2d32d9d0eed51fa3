// Reads one JSON object member by member, strictly: a member of the wrong type, out of range or
// unknown is an error that names its place: "jobs[2].work_hours is -1: a number above 0".
//
// Pure; not thread-safe. The object must outlive the reader.
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/money.h"
#include "base/result.h"

namespace sabia::spot {

struct Range {
  double least = 0;
  double most = std::numeric_limits<double>::max();
};

class Fields {
 public:
  // `place` is "" for the document itself.
  Fields(const json::object& object, std::string place)
      : object_(object), place_(std::move(place)) {}
  // An element of a list.
  static Result<Fields> Of(const json::value& value, std::string place);

  // Without a fallback the member must be there.
  Result<double> Number(std::string_view name, Range range, std::optional<double> fallback = {});
  Result<std::int64_t> Whole(std::string_view name, Range range,
                             std::optional<std::int64_t> fallback = {});
  Result<Millis> Time(std::string_view name, Millis unit, Range range,
                      std::optional<double> fallback = {});
  Result<std::string> Text(std::string_view name, std::optional<std::string> fallback = {});
  Result<std::string> OneOf(std::string_view name, const std::vector<std::string_view>& allowed,
                            std::string_view fallback);
  Result<bool> Flag(std::string_view name, bool fallback);
  Result<std::optional<WallTime>> Moment(std::string_view name);
  Result<std::optional<Money>> Dollars(std::string_view name);
  // Null when absent.
  Result<const json::array*> List(std::string_view name);
  Result<const json::object*> Object(std::string_view name);

  // kInvalidArgument when the object has a member that nobody asked for.
  Status Finish() const;
  std::string Place(std::string_view name) const;
  tl::unexpected<Error> Bad(std::string_view name, std::string_view what) const;

 private:
  const json::value* Find(std::string_view name);
  tl::unexpected<Error> Missing(std::string_view name, std::string_view allowed) const;

  const json::object& object_;
  std::string place_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace sabia::spot
