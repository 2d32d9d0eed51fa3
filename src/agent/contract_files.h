// The files of /opt/ml/input/config, byte for byte as a SageMaker container finds them.
//
// Pure; any thread. Source: the training container contract and files printed by real jobs.
#pragma once

#include <map>
#include <string>

#include "agent/layout.h"
#include "base/json.h"
#include "model/instance.h"

namespace sabia::agent {

// The content of resourceconfig.json and of inputdataconfig.json.
json::object ResourceConfig(const model::InstanceSpec& spec);
json::object InputDataConfig(const model::InstanceSpec& spec);

// File name → content. spec.config_files comes last and wins.
std::map<std::string, std::string> ContractFiles(const model::InstanceSpec& spec);

// Makes the directories of an instance (model/instance_tree.h).
Status MakeInstanceTree(const Layout& layout);

// Into an existing directory. kInvalidArgument: a file name of the spec is not a plain name.
Status WriteContractFiles(const model::InstanceSpec& spec, const Path& directory);

}  // namespace sabia::agent
