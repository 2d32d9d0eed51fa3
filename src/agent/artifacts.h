// What a job leaves behind: the model and the output data, of one host or of several, into S3.
//
// The program has ended on every host, so the trees stand still; that their roots are real
// directories is checked, for the program could have put links there. Uploading again replaces what
// an earlier attempt left.
//
// Threading: blocks; any thread. Errors: kConflict when hosts wrote the same file,
// kInvalidArgument when /opt/ml/model was replaced by something else, else of the upload.
#pragma once

#include <functional>

#include "agent/hook.h"

namespace sabia::agent {

struct ArtifactOptions {
  bool model = true;
  bool output = true;                   // only when there is something in /opt/ml/output/data
  std::vector<std::string> merge_from;  // instance directories of the other hosts
};

// notes: what was there and was not uploaded, for the job's user.
Status UploadArtifacts(Instance& instance, const ArtifactOptions& options,
                       std::vector<std::string>& notes);

}  // namespace sabia::agent
