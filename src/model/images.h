// Which image URIs the engine can run, and how.
//
// Images are known by repository name, for the registry's account id differs per region:
// `…/sagemaker-xgboost:1.7-1` is the built-in algorithm, `…/pytorch-training:2.0.1-cpu-py310`
// script mode on the host's Python. Script mode in the XGBoost image (a job that names
// sagemaker_program) runs the script, as AWS's container does. A ContainerEntrypoint is run as it
// is. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/instance.h"

namespace sabia::model {

struct ImageName {
  std::string registry;    // "246618743249.dkr.ecr.us-west-2.amazonaws.com"; "" when there is none
  std::string repository;  // "sagemaker-xgboost", "sabia/python"
  std::string tag;         // "latest" when there is none; a digest after "@" is no tag
};
// kInvalidArgument: no repository, or characters that no image name has.
Result<ImageName> ParseImageName(std::string_view uri);

// request: CreateTrainingJob. kInvalidArgument: no such image, and the message lists what is known
// and how to add one.
Result<ImageKind> ResolveTrainingImage(const json::object& request);

// "*/sagemaker-xgboost:*", …: for messages and documents.
std::vector<std::string> KnownImages();

}  // namespace sabia::model
