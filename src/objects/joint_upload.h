// Where the parts of multipart uploads go, so that completing need not copy them: at their final
// offsets in one joint file.
//
// The first part of an upload tells how large its parts are; part n then has its place at n - 1
// times that. A part that is smaller fits too (it may be the last), a larger one does not. A place
// is given to one writer only, once: an acknowledged part is never written over, so a part that is
// sent again gets a file of its own, and completing then joins by copying. Only a writer that
// failed gives its place back.
//
// All in memory: uploads that a restart or the limit forgets are joined by copying, which is always
// right. Threading: thread-safe; a JointPlace is thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sabia::objects {

class JointFile {
 public:
  explicit JointFile(std::string blob_id) : blob_id_(std::move(blob_id)) {}
  const std::string& blob_id() const { return blob_id_; }

 private:
  friend class JointPlace;
  friend class JointUploads;
  friend class JointSeal;
  std::optional<std::uint64_t> Claim(int number, std::uint64_t size);
  void Leave(int number, bool keep);
  bool Seal();
  void Unseal();

  const std::string blob_id_;
  std::mutex mutex_;
  // All below guarded by mutex_.
  std::uint64_t part_size_ = 0;  // 0: no part has come
  std::set<int> taken_;
  std::size_t writers_ = 0;
  bool sealed_ = false;
};

// The right to write one part; destroyed without Keep(), the place is free again.
class JointPlace {
 public:
  JointPlace(JointPlace&& other) noexcept
      : file_(std::move(other.file_)),
        number_(other.number_),
        offset_(other.offset_),
        size_(other.size_),
        keep_(other.keep_) {}
  JointPlace& operator=(JointPlace&&) = delete;
  ~JointPlace() {
    if (file_) file_->Leave(number_, keep_);
  }
  const std::string& blob_id() const { return file_->blob_id(); }
  std::uint64_t offset() const { return offset_; }
  // No more bytes may be written: the next part begins there.
  std::uint64_t size() const { return size_; }
  // The part's row is committed, or may be.
  void Keep() { keep_ = true; }

 private:
  friend class JointUploads;
  JointPlace(std::shared_ptr<JointFile> file, int number, std::uint64_t offset, std::uint64_t size)
      : file_(std::move(file)), number_(number), offset_(offset), size_(size) {}
  std::shared_ptr<JointFile> file_;
  int number_;
  std::uint64_t offset_;
  std::uint64_t size_;
  bool keep_ = false;
};

// While it lives nobody has, or gets, a place.
class JointSeal {
 public:
  JointSeal(JointSeal&& other) noexcept = default;
  JointSeal& operator=(JointSeal&&) = delete;
  ~JointSeal() {
    if (file_) file_->Unseal();
  }
  const std::string& blob_id() const { return file_->blob_id(); }

 private:
  friend class JointUploads;
  explicit JointSeal(std::shared_ptr<JointFile> file) : file_(std::move(file)) {}
  std::shared_ptr<JointFile> file_;
};

class JointUploads {
 public:
  // Uploads remembered at once; further ones take the place of others.
  static constexpr std::size_t kUploadsMax = 4096;

  // REQUIRES: the upload was begun by this process, just now.
  void Begin(std::string_view upload_id, std::string_view blob_id);
  // nullopt: this part needs a file of its own.
  std::optional<JointPlace> Claim(std::string_view upload_id, int number, std::uint64_t size);
  // nullopt: unknown, or somebody is writing.
  std::optional<JointSeal> Seal(std::string_view upload_id);
  void Forget(std::string_view upload_id);

 private:
  std::shared_ptr<JointFile> Find(std::string_view upload_id);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<JointFile>, std::less<>> files_;  // guarded by mutex_
};

}  // namespace sabia::objects
