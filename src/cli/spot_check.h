// `sabia spot check JOB|SCRIPT`: whether a program truly resumes.
//
// The program runs twice in jobs of its own: once without an interruption, once with one, each with
// a checkpoint prefix and outputs below <output path>/sabia-spot-check/. What the second run did
// with its notice, what was restored, what it did again, and whether its results are those of the
// first, is told.
#pragma once

#include "cli/command.h"

namespace sabia::cli {

void AddSpotCheckCommand(CLI::App& spot, Invocation& invocation);

}  // namespace sabia::cli
