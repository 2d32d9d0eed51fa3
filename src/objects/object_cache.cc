#include "objects/object_cache.h"

#include <functional>
#include <utility>

namespace sabia::objects {
namespace {

// Of the lists, maps and blocks around an entry.
constexpr std::size_t kOverhead = 512;

std::size_t SizeOf(const std::map<std::string, std::string>& map) {
  std::size_t out = 0;
  for (const auto& [name, value] : map) out += name.size() + value.size() + 128;
  return out;
}

std::size_t SizeOf(const ObjectCache::Entry& entry) {
  const ObjectInfo& info = *entry.info;
  return kOverhead + info.key.size() + SizeOf(info.metadata) + SizeOf(info.checksums) +
         SizeOf(info.tags) + info.parts.size() * sizeof(std::uint64_t) +
         info.part_checksums.size() + (entry.content ? entry.content->size() : 0);
}

}  // namespace

std::string ObjectCache::NameOf(std::string_view bucket, std::string_view key) {
  std::string out;
  out.reserve(bucket.size() + 1 + key.size());
  out.append(bucket).append("/").append(key);  // no bucket's name has a slash
  return out;
}

std::size_t ObjectCache::ShardOf(std::string_view name) {
  return std::hash<std::string_view>()(name) % kShards;
}

void ObjectCache::Shard::Erase(std::list<Held>::iterator at) {
  bytes -= at->bytes;
  by_name.erase(at->name);
  order.erase(at);
}

ObjectCache::Look ObjectCache::Find(std::string_view bucket, std::string_view key) {
  const std::string name = NameOf(bucket, key);
  Shard& shard = shards_[ShardOf(name)];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.by_name.find(name);
  if (found == shard.by_name.end()) return {{}, shard.version};
  shard.order.splice(shard.order.begin(), shard.order, found->second);
  return {found->second->entry, shard.version};
}

void ObjectCache::Insert(std::string_view bucket, std::string_view key, std::uint64_t ticket,
                         Entry entry) {
  std::string name = NameOf(bucket, key);
  Shard& shard = shards_[ShardOf(name)];
  const std::size_t bytes = SizeOf(entry) + name.size();
  const std::lock_guard lock(shard.mutex);
  if (shard.changing > 0 || shard.version != ticket || shard.by_name.contains(name)) return;
  shard.order.push_front({std::move(name), std::move(entry), bytes});
  shard.by_name.emplace(shard.order.front().name, shard.order.begin());
  shard.bytes += bytes;
  while (shard.bytes > kBytesMax / kShards) shard.Erase(std::prev(shard.order.end()));
}

void ObjectCache::Change::Add(std::string_view bucket, std::string_view key) {
  const std::string name = NameOf(bucket, key);
  const std::size_t number = ShardOf(name);
  Shard& shard = cache_->shards_[number];
  shards_.push_back(number);
  const std::lock_guard lock(shard.mutex);
  ++shard.changing;
  if (const auto found = shard.by_name.find(name); found != shard.by_name.end()) {
    shard.Erase(found->second);
  }
}

ObjectCache::Change::~Change() {
  for (const std::size_t number : shards_) {
    Shard& shard = cache_->shards_[number];
    const std::lock_guard lock(shard.mutex);
    --shard.changing;
    ++shard.version;
  }
}

ObjectCache::Change ObjectCache::Begin(std::string_view bucket, std::string_view key) {
  Change out(*this);
  out.Add(bucket, key);
  return out;
}

ObjectCache::Change ObjectCache::Begin(std::string_view bucket,
                                       const std::vector<std::string_view>& keys) {
  Change out(*this);
  for (const std::string_view key : keys) out.Add(bucket, key);
  return out;
}

}  // namespace sabia::objects
