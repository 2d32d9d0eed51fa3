// A JSON object that its copies share: for documents that are copied often and changed hardly ever.
//
// Copying costs a counter. Edit() gives a copy of one's own first when others share it. The text
// is made once.
//
// Threading: different copies may be used by different threads; one copy is thread-compatible.
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/json.h"

namespace sabia {

class SharedObject {
 public:
  SharedObject() : node_(Empty()) {}
  SharedObject(json::object object) : node_(std::make_shared<Node>(std::move(object))) {}
  SharedObject& operator=(
      std::initializer_list<std::pair<json::string_view, json::value_ref>> members) {
    return *this = SharedObject(json::object(members));
  }

  operator const json::object&() const { return node_->object; }
  const json::object& get() const { return node_->object; }
  const json::object* operator->() const { return &node_->object; }

  // Of this copy alone; every reference from get() and text() ends here.
  json::object& Edit() {
    node_ = std::make_shared<Node>(json::object(node_->object));
    return node_->object;
  }

  // Serialized.
  const std::string& text() const {
    std::call_once(node_->once, [this] { node_->text = json::serialize(node_->object); });
    return node_->text;
  }

  friend bool operator==(const SharedObject& a, const SharedObject& b) {
    return a.node_ == b.node_ || a.node_->object == b.node_->object;
  }

 private:
  struct Node {
    explicit Node(json::object o) : object(std::move(o)) {}
    json::object object;
    std::once_flag once;
    std::string text;
  };
  static const std::shared_ptr<Node>& Empty() {
    static const auto empty = std::make_shared<Node>(json::object());
    return empty;
  }

  std::shared_ptr<Node> node_;
};

}  // namespace sabia
