#include "fastfile/fuse_operations.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "fastfile/fuse_mount.h"

namespace sabia::fastfile {
namespace {

// Nothing changes for as long as the mount lives.
constexpr double kForever = 365.0 * 86'400;
constexpr unsigned kReadMax = 1 << 20;
constexpr unsigned kBackground = 64;
constexpr std::uint32_t kBlock = 4096;

FuseMount& MountOf(fuse_req_t request) {
  return *static_cast<FuseMount*>(::fuse_req_userdata(request));
}

// FUSE counts from 1.
std::uint32_t NodeOf(fuse_ino_t inode) { return static_cast<std::uint32_t>(inode - 1); }

struct stat AttributesOf(const FileTree& tree, std::uint32_t number) {
  const FileTree::Node& node = tree.node(number);
  struct stat out {};
  out.st_ino = number + 1;
  out.st_mode = node.is_file() ? S_IFREG | 0444 : S_IFDIR | 0555;
  out.st_nlink = node.is_file() ? 1 : 2;
  out.st_uid = ::getuid();
  out.st_gid = ::getgid();
  out.st_size = static_cast<off_t>(node.size);
  out.st_blksize = kBlock;
  out.st_blocks = static_cast<blkcnt_t>((node.size + 511) / 512);
  const std::int64_t ms = std::max<std::int64_t>(0, node.modified_ms);
  out.st_mtim = {ms / 1000, ms % 1000 * 1'000'000};
  out.st_atim = out.st_ctim = out.st_mtim;
  return out;
}

fuse_entry_param EntryOf(const FileTree& tree, std::uint32_t number) {
  fuse_entry_param out{};
  out.ino = number + 1;
  out.attr = AttributesOf(tree, number);
  out.attr_timeout = out.entry_timeout = kForever;
  return out;
}

void Init(void* user, fuse_conn_info* connection) {
  (void)user;
  connection->max_write = kReadMax;  // decides the longest read as well
  connection->max_background = kBackground;
  connection->congestion_threshold = kBackground;
  // Directories are opened and listed without asking, and remembered.
  connection->want |=
      connection->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS |
                             FUSE_CAP_NO_OPENDIR_SUPPORT | FUSE_CAP_CACHE_SYMLINKS);
  // ASYNC_DIO: who waits for such a read cannot be killed.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA |
                                             FUSE_CAP_SPLICE_READ | FUSE_CAP_ASYNC_DIO);
}

void Lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const FileTree& tree = MountOf(request).tree();
  const auto found = tree.Find(NodeOf(parent), name);
  fuse_entry_param entry{};
  entry.entry_timeout = kForever;  // that it is not there is remembered as well
  if (found) entry = EntryOf(tree, *found);
  ::fuse_reply_entry(request, &entry);
}

// Nodes are not counted: they live as long as the mount.
void Forget(fuse_req_t request, fuse_ino_t, std::uint64_t) { ::fuse_reply_none(request); }
void ForgetMulti(fuse_req_t request, std::size_t, fuse_forget_data*) { ::fuse_reply_none(request); }

void GetAttributes(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  const struct stat attributes = AttributesOf(MountOf(request).tree(), NodeOf(inode));
  ::fuse_reply_attr(request, &attributes, kForever);
}

void OpenFile(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  FuseMount& mount = MountOf(request);
  if ((info->flags & O_ACCMODE) != O_RDONLY) {
    ::fuse_reply_err(request, EROFS);
    return;
  }
  const FileTree::Node& node = mount.tree().node(NodeOf(inode));
  PrefetchEngine::Handle* handle = mount.engine().Open(static_cast<std::uint32_t>(node.file));
  info->fh = reinterpret_cast<std::uint64_t>(handle);
  info->keep_cache = 1;
  info->noflush = 1;
  if (::fuse_reply_open(request, info) == -ENOENT) mount.engine().Close(handle);  // interrupted
}

void Release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  MountOf(request).engine().Close(reinterpret_cast<PrefetchEngine::Handle*>(info->fh));
  ::fuse_reply_err(request, 0);
}

void OnInterrupt(fuse_req_t request, void*) { MountOf(request).engine().Interrupt(request); }

void Read(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
  const auto begin = static_cast<std::uint64_t>(offset);
  PrefetchEngine& engine = MountOf(request).engine();
  ::fuse_req_interrupt_func(request, OnInterrupt, nullptr);
  engine.Read(reinterpret_cast<PrefetchEngine::Handle*>(info->fh), {begin, begin + size}, request,
              [request](int error, std::span<const iovec> data) {
                if (error != 0) {
                  ::fuse_reply_err(request, error);
                } else {
                  ::fuse_reply_iov(request, data.data(), static_cast<int>(data.size()));
                }
              });
}

void ReadDirectory(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset,
                   bool with_attributes) {
  const FileTree& tree = MountOf(request).tree();
  const std::uint32_t number = NodeOf(inode);
  const FileTree::Node& directory = tree.node(number);
  std::vector<char> buffer(size);
  std::size_t used = 0;
  std::string name;
  for (auto at = static_cast<std::uint64_t>(offset); at < directory.children + 2ULL; ++at) {
    const std::uint32_t entry = at == 0 ? number
                                : at == 1
                                    ? directory.parent
                                    : directory.first_child + static_cast<std::uint32_t>(at) - 2;
    name = at == 0 ? "." : at == 1 ? ".." : tree.NameOf(tree.node(entry));
    const std::size_t room = size - used;
    std::size_t needed = 0;
    if (with_attributes) {
      fuse_entry_param parameters = EntryOf(tree, entry);
      needed = ::fuse_add_direntry_plus(request, buffer.data() + used, room, name.c_str(),
                                        &parameters, static_cast<off_t>(at + 1));
    } else {
      const struct stat attributes = AttributesOf(tree, entry);
      needed = ::fuse_add_direntry(request, buffer.data() + used, room, name.c_str(), &attributes,
                                   static_cast<off_t>(at + 1));
    }
    if (needed > room) break;
    used += needed;
  }
  ::fuse_reply_buf(request, buffer.data(), used);
}

void ReadDir(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset,
             fuse_file_info*) {
  ReadDirectory(request, inode, size, offset, false);
}
void ReadDirPlus(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset,
                 fuse_file_info*) {
  ReadDirectory(request, inode, size, offset, true);
}

void StatFs(fuse_req_t request, fuse_ino_t) {
  const FileTree& tree = MountOf(request).tree();
  struct statvfs out {};
  out.f_bsize = out.f_frsize = kBlock;
  out.f_blocks = (tree.bytes() + kBlock - 1) / kBlock;
  out.f_files = tree.size();
  out.f_namemax = 255;
  ::fuse_reply_statfs(request, &out);
}

}  // namespace

const fuse_lowlevel_ops& FuseOperations() {
  // What is missing here answers ENOSYS, which the kernel remembers: opendir, flush, xattrs.
  static const fuse_lowlevel_ops operations = [] {
    fuse_lowlevel_ops out{};
    out.init = Init;
    out.lookup = Lookup;
    out.forget = Forget;
    out.forget_multi = ForgetMulti;
    out.getattr = GetAttributes;
    out.open = OpenFile;
    out.release = Release;
    out.read = Read;
    out.readdir = ReadDir;
    out.readdirplus = ReadDirPlus;
    out.statfs = StatFs;
    return out;
  }();
  return operations;
}

}  // namespace sabia::fastfile
