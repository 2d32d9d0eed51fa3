// Reading rows of the table `resources`, shared by resources.cc and resource_list.cc.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "store/connection.h"
#include "store/resources.h"

namespace sabia::store {

// The columns in the order that ReadRow expects, from a table named r.
#define SABIA_RESOURCE_COLUMNS \
  "r.id, r.name, r.status, r.created, r.modified, r.live, r.parent, r.revision"

// A resource without its document, and its row.
struct ResourceRow {
  std::int64_t id = 0;
  Resource resource;
};

inline ResourceRow ReadRow(const Statement& row, Kind kind) {
  ResourceRow out;
  out.id = row.Int(0);
  out.resource.kind = kind;
  out.resource.name = row.String(1);
  out.resource.status = row.String(2);
  out.resource.created = FromUnixMillis(row.Int(3));
  out.resource.modified = FromUnixMillis(row.Int(4));
  out.resource.live = row.Int(5) != 0;
  out.resource.parent = row.String(6);
  out.resource.revision = row.Int(7);
  return out;
}

Status ReadDocument(Connection& connection, ResourceRow& row);

// One page, read within one snapshot.
Result<Page> ListResources(Connection& connection, const ListQuery& query);

}  // namespace sabia::store
