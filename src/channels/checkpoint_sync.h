// Keeps a checkpoint directory in S3: restored before a program starts, followed while it runs,
// flushed after it.
//
// The promise is that an object never holds half a file. A file goes up when nobody has it open for
// writing and two looks in a row saw the same size and time (or it never rests); what goes up is a
// snapshot that was checked to be of one piece; and after a program was killed, a file that it may
// have been in the middle of stays away, so that S3 keeps the version before. Deletions follow.
// What others put under the prefix later is not fetched. A directory of files is restored all or
// not at all (checkpoint_sets.h).
//
// While the endpoint is away, changes wait and are tried again. Files go up in the order of their
// modification times. When the program has ended, time may be short: then the newest directory goes
// first, after it what lies beside the directories, in which programs name their newest checkpoint,
// and last the older directories.
//
// Threading: Start, Freeze, Flush and stats from one thread; a thread of its own works between
// Start and Flush. Errors: of Restore: kNotFound, kDenied, kInvalidArgument (a key that is no safe
// path). Afterwards they are stats.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "channels/checkpoint_files.h"
#include "channels/checkpoint_sets.h"
#include "channels/download.h"
#include "env/clock.h"
#include "env/posix/posix_files.h"
#include "wire/s3_client.h"

namespace sabia::channels {

struct CheckpointOptions {
  env::Path directory;      // exists
  env::Path snapshots;      // exists; same file system; for copies on their way
  wire::S3Location prefix;  // key "" or with a trailing "/"
  std::string host = "algo-1";
  // S3 holds the newest so many checkpoints of a series (checkpoint_sets.h); 0: all that are here.
  // The directory itself is the program's: nothing is removed there.
  std::size_t keep = 0;
  Millis interval{200};  // between looks; also how long a file must be still
  // A directory in which nothing changed for so long is a complete checkpoint, and so is one that
  // has a successor. Programs write the files of one after another, without pauses of this length.
  Millis set_rest{3'000};
  std::size_t files_max = 100'000;
};

struct CheckpointStats {
  std::optional<WallTime> synced_at;  // of the last upload or deletion
  // When the newest of the files was written that went up and would be restored. Nothing before
  // the first.
  std::optional<WallTime> written_at;
  std::uint64_t pending_bytes = 0;    // changed and not yet uploaded
  std::uint64_t files = 0;            // in S3 as they are here
  std::string problem;                // why the last attempt failed; "" when it did not
  std::vector<std::string> skipped;   // by Flush: half-written when the program was killed
  std::vector<std::string> no_files;  // by Flush: links, FIFOs and the like
};

struct RestoreStats {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t left_out = 0;  // files of checkpoints that never were whole
};

class CheckpointSync {
 public:
  CheckpointSync(CheckpointOptions options, MakeClient make_client, env::Clock& clock);
  ~CheckpointSync();

  // Everything under the prefix into the directory, which is empty.
  Result<RestoreStats> Restore(const Cancelled& cancelled);

  Status Start();

  // Just before a signal that may end the program: what nobody is writing to now is whole.
  void Look();
  // Just before the program is killed for certain: remembers what it is in the middle of. No upload
  // is begun afterwards until Flush.
  void Freeze();
  // The program has ended: the thread looks no more.
  void Halt();

  enum class Trust {
    kAll,         // the program ended by itself: its files are what it wanted them to be
    kOnlyStable,  // it was killed: only what nobody was writing to
  };
  // Uploads what is left. Blocks until done, `cancelled`, or an error that is not the endpoint's
  // absence.
  Status Flush(Trust trust, const Cancelled& cancelled);

  CheckpointStats stats() const;

 private:
  struct Known {
    FileIdentity seen;                     // at the last look
    bool written_to = false;               // at the last look
    std::optional<FileIdentity> stable;    // the last version that was still for an interval
    std::optional<FileIdentity> uploaded;  // the version in S3
    int looks_pending = 0;                 // in a row with a version that is not in S3
    bool retired = false;                  // `uploaded` was in S3, and is beyond `keep`
    std::optional<WallTime> missed_at;     // the first look at which it was not there any more
  };
  using Files = std::vector<CheckpointFile>;

  void Loop();
  Status Pass(const Cancelled& cancelled);
  // Updates known_ by a look, and answers what should go up.
  Files LookForWork(const Files& files);
  void TakeAsWhole(const Files& files);  // REQUIRES: mutex_ held
  bool MayDelete(const Files& files);
  bool HasUnfinished(const Files& files) const;
  Files FinalWork(Trust trust, const Files& files);
  // Says in S3 which files of `work` are the first of their name in a directory.
  Status BeginSets(const Files& work);
  // Takes back what BeginSets said of directories that are whole by now: all of them is in S3, and
  // at `when` they had been at rest; nothing: the program has ended by itself, and nothing will
  // come.
  Status FinishSets(const Files& files, std::optional<WallTime> when);
  std::set<std::string, std::less<>> PendingSets(const Files& files) const;
  Status UploadBySets(const Files& work, const Files& files, const Cancelled& cancelled);
  Status UploadAll(const Files& work, const Cancelled& cancelled);
  Status UploadOne(const CheckpointFile& file);
  // Known and not there any more. Updates when each was missed first.
  std::vector<std::string> Vanished(const Files& present);
  // Without those of directories of which other files are there and that changed within set_rest
  // before `when`: half of a directory that is being removed is no checkpoint. when: as in
  // FinishSets.
  std::vector<std::string> Settled(const std::vector<std::string>& vanished, const Files& present,
                                   std::optional<WallTime> when) const;
  // Without those that nothing visible replaces: what is hidden does not.
  std::vector<std::string> Replaced(const std::vector<std::string>& vanished,
                                    const Files& present) const;
  Status DeleteAll(const std::vector<std::string>& vanished, const Cancelled& cancelled);
  // Files of the checkpoints beyond `keep` that are in S3; they may go when MayDelete(files).
  std::vector<std::string> Superseded(const Files& files) const;
  Status Retire(const std::vector<std::string>& superseded, const Cancelled& cancelled);
  // Hides files of directories before they go one by one: half of one is no checkpoint.
  Status Hide(const std::vector<std::string>& paths);
  Status EnsureClient();
  void SetProblem(const Status& status);
  std::string KeyOf(const std::string& path) const { return options_.prefix.key + path; }

  const CheckpointOptions options_;
  const MakeClient make_client_;
  env::Clock& clock_;
  env::UniqueFd directory_;
  std::unique_ptr<wire::S3Client> client_;
  UnfinishedFiles unfinished_;  // of whoever works: the thread, or Restore and Flush
  std::thread thread_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool halted_ = false;                    // known_ stays as it is
  std::optional<WallTime> frozen_;         // known_ was taken then, just before the kill
  std::optional<WallTime> resting_since_;  // of Flush: see FinishSets
  std::map<std::string, Known> known_;
  CheckpointStats stats_;
};

}  // namespace sabia::channels
