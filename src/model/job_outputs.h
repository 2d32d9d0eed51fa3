// Where a training job puts what it made: URIs below OutputDataConfig.S3OutputPath.
//
// Source: OutputDataConfig and ModelArtifacts of the SageMaker API reference. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace sabia::model {

// request: CreateTrainingJob with its defaults filled in; name: TrainingJobName.
// GZIP: <S3OutputPath>/<name>/output/model.tar.gz; NONE: …/output/model/, a prefix.
std::string ModelArtifactsUri(const json::object& request, std::string_view name);
// GZIP: …/output/output.tar.gz; NONE: …/output/data/, a prefix.
std::string OutputDataUri(const json::object& request, std::string_view name);

}  // namespace sabia::model
