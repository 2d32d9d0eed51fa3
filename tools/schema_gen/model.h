// The part of a distilled schema that the generator needs: the structures that the implemented
// actions reach.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace sabia::schema_gen {

struct Field {
  std::string name;      // "TrainingJobName"
  std::string variable;  // "training_job_name"
  std::string type;      // "std::vector<Channel>"
};

struct Structure {
  std::string name;
  std::vector<Field> fields;
};

struct Service {
  std::string name;                   // "sagemaker-runtime"
  std::string identifier;             // "sagemaker_runtime"
  std::vector<Structure> structures;  // each after those that it contains by value
  std::set<std::string> forward;      // names used before they are complete
};

// service → action names; '#' starts a comment.
Result<std::map<std::string, std::set<std::string>>> ReadActions(const std::string& text);

Result<Service> MakeService(const json::object& document, const std::set<std::string>& actions);

std::string SnakeCase(const std::string& name);

}  // namespace sabia::schema_gen
