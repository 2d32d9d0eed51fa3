// Honour or refuse, member by member: what becomes of every field of CreateHyperParameterTuningJob.
//
// Members that a training job definition shares with CreateTrainingJob have the rows of
// training_job_fields.h, for a trial is a training job. A test walks the service schema at every
// depth and fails on a member without a row. docs/semantics/tuning-job.md prints the same rows; a
// test compares them.
//
// Pure; any thread.
#pragma once

#include <span>

#include "api/training_job_fields.h"

namespace sabia::api {

// Members outside of the definitions.
std::span<const FieldRule> CreateTuningJobFields();
// Members of TrainingJobDefinition, and of each element of TrainingJobDefinitions, that
// CreateTrainingJob does not have.
std::span<const FieldRule> TuningDefinitionFields();

}  // namespace sabia::api
