// Which checkpoint comes after which, of the files that a look found.
//
// A checkpoint is a directory, or a file of its own, and as new as its newest file; a series is
// what SeriesOf (checkpoint_sets.h) calls one. Pure; any thread. Answers point into the files.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "channels/checkpoint_files.h"

namespace sabia::channels {

// The directory of a file that is in one, else the file.
std::string_view CheckpointOf(std::string_view path);

// The newest directory, then the files that are in none, then the other directories, newest first;
// each of them in the order of modification times, as `files` are.
std::vector<CheckpointFile> ByUrgency(const std::vector<CheckpointFile>& files);

// Checkpoints that were done when another one of their series began: the program has gone on.
std::set<std::string_view> Succeeded(const std::vector<CheckpointFile>& files);

// Checkpoints that are not among the newest `keep` of their series.
std::set<std::string_view> BeyondNewest(const std::vector<CheckpointFile>& files, std::size_t keep);

}  // namespace sabia::channels
