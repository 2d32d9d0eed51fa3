// Warm pools: which job may run on whose instances, and what becomes of the instances of a job that
// has ended.
//
// A pool is taken by the next job that asks for the same (PoolKeys), whether or not that job keeps
// its instances alive in turn. What a job says of its pool changes in the same commit as its
// leases. Not here: in which order waiting jobs are looked at, and which pools make room for them
// (fleet/pool_board.h). Pure.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "plan/training_snapshot.h"

namespace sabia::plan {

// What must be the same, by its name in the request.
inline constexpr std::array<std::string_view, 9> kPoolKeyNames = {
    "RoleArn",
    "InstanceCount",
    "InstanceType",
    "VolumeSizeInGB",
    "VolumeKmsKeyId",
    "SecurityGroupIds",
    "Subnets",
    "EnableInterContainerTrafficEncryption",
    "EnableNetworkIsolation"};
// The values as text, in the order of the names; "" where the request has none.
using PoolKeys = std::array<std::string, kPoolKeyNames.size()>;

PoolKeys PoolKeysOf(const model::TrainingJob& job);
// Spot capacity is not retained, and a job that asks for it does not run on what is.
bool MayUsePools(const model::TrainingJob& job);

// "VolumeSizeInGB ('1' there, '2' here)"; nothing when they are equal.
std::vector<std::string> Differences(const PoolKeys& there, const PoolKeys& here);

// REQUIRES: the job has ended, and its instances have. They wait for another job where it asks for
// that and they can; otherwise they are given back.
void KeepOrEndPool(const TrainingSnapshot& seen, Record& record);
// The job goes on without the instances that it had taken over.
void LeavePool(model::TrainingJob& job);

// A job that has ended and whose instances wait: whether that is over.
std::optional<Action> StepPool(const TrainingSnapshot& seen);
std::optional<WallTime> PoolDue(const model::TrainingJob& job);

// The instances of `offer` become those of the job that `record` places.
void TakePool(const PoolOffer& offer, Record& record);

}  // namespace sabia::plan
