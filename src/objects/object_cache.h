// Current objects that were read lately, with the bytes of small ones, in bounded memory.
//
// The rows are the truth. Whoever changes a key holds a Change around the commit: from its
// beginning the key is not in the cache, and nothing that was read before its end gets in. So a
// reader never sees here what a listing, or an answer to a write, has already overtaken.
//
// Threading: thread-safe; what is handed out is immutable.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "objects/types.h"

namespace sabia::objects {

class ObjectCache {
 public:
  // Of all entries together, by estimate.
  static constexpr std::size_t kBytesMax = 16U << 20;
  // Larger contents are left to the kernel's cache.
  static constexpr std::size_t kContentMax = 16U << 10;

  struct Entry {
    std::shared_ptr<const ObjectInfo> info;      // nullptr: not here
    std::shared_ptr<const std::string> content;  // nullptr: it is large
  };
  // What was not found may be put in with the ticket of that look.
  struct Look {
    Entry entry;
    std::uint64_t ticket = 0;
  };
  Look Find(std::string_view bucket, std::string_view key);
  // Does nothing when a key near it has changed since the look.
  void Insert(std::string_view bucket, std::string_view key, std::uint64_t ticket, Entry entry);

  class Change {
   public:
    Change(Change&& other) noexcept = default;
    Change& operator=(Change&&) = delete;
    ~Change();

   private:
    friend class ObjectCache;
    explicit Change(ObjectCache& cache) : cache_(&cache) {}
    void Add(std::string_view bucket, std::string_view key);
    ObjectCache* cache_;
    std::vector<std::size_t> shards_;
  };
  Change Begin(std::string_view bucket, std::string_view key);
  Change Begin(std::string_view bucket, const std::vector<std::string_view>& keys);

 private:
  static constexpr std::size_t kShards = 64;
  struct Held {
    std::string name;
    Entry entry;
    std::size_t bytes = 0;
  };
  struct Shard {
    std::mutex mutex;
    // All below guarded by mutex.
    std::list<Held> order;  // the latest first
    std::unordered_map<std::string_view, std::list<Held>::iterator> by_name;
    std::size_t bytes = 0;
    std::size_t changing = 0;
    std::uint64_t version = 0;

    void Erase(std::list<Held>::iterator at);
  };
  static std::string NameOf(std::string_view bucket, std::string_view key);
  static std::size_t ShardOf(std::string_view name);

  std::array<Shard, kShards> shards_;
};

}  // namespace sabia::objects
