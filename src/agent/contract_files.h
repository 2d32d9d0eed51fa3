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

// Makes the directories below /opt/ml and writes the contract files. kInvalidArgument: a file name
// of the spec is not a plain name.
Status WriteContractTree(const model::InstanceSpec& spec, const Layout& layout);

}  // namespace sabia::agent
