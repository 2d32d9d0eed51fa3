// libxgboost, opened at run time: the few functions that we call, and nothing of it in any other
// process.
//
// Works with 1.7 (Debian 12) and 2.x (Ubuntu 24.04): every function here is in both. The library
// stays open until the process ends, because its threads may outlive any object. Threading: the
// table is immutable.
#pragma once

#include <xgboost/c_api.h>

#include <span>
#include <string>
#include <string_view>

#include "algorithms/job_log.h"
#include "base/result.h"

namespace sabia::algorithms {

struct XgboostApi {
  int major = 0;
  int minor = 0;

  decltype(&::XGBGetLastError) last_error = nullptr;
  decltype(&::XGBoostVersion) version = nullptr;
  decltype(&::XGBRegisterLogCallback) set_log = nullptr;
  decltype(&::XGDMatrixCreateFromDense) matrix_from_dense = nullptr;
  decltype(&::XGDMatrixCreateFromCSR) matrix_from_csr = nullptr;
  decltype(&::XGDMatrixSliceDMatrix) matrix_slice = nullptr;
  decltype(&::XGDMatrixSetFloatInfo) matrix_set_floats = nullptr;
  decltype(&::XGDMatrixSetUIntInfo) matrix_set_integers = nullptr;
  decltype(&::XGDMatrixNumRow) matrix_rows = nullptr;
  decltype(&::XGDMatrixNumCol) matrix_columns = nullptr;
  decltype(&::XGDMatrixFree) matrix_free = nullptr;
  decltype(&::XGBoosterCreate) booster_create = nullptr;
  decltype(&::XGBoosterFree) booster_free = nullptr;
  decltype(&::XGBoosterSetParam) booster_set = nullptr;
  decltype(&::XGBoosterUpdateOneIter) booster_update = nullptr;
  decltype(&::XGBoosterEvalOneIter) booster_evaluate = nullptr;
  decltype(&::XGBoosterPredictFromDMatrix) booster_predict = nullptr;
  decltype(&::XGBoosterSaveModelToBuffer) booster_save = nullptr;
  decltype(&::XGBoosterLoadModelFromBuffer) booster_load = nullptr;
  decltype(&::XGBoosterBoostedRounds) booster_rounds = nullptr;
  decltype(&::XGBoosterSlice) booster_slice = nullptr;
  decltype(&::XGBoosterSetAttr) booster_set_attribute = nullptr;
  decltype(&::XGBoosterGetAttr) booster_attribute = nullptr;
  decltype(&::XGBoosterGetNumFeature) booster_features = nullptr;

  // kInvalidArgument with the library's own words (without its stack trace and source line) when
  // code is not 0.
  Status Check(int code) const;
};

// REQUIRES: no other thread runs yet (it sets a variable of the environment for the library's own
// threads). Tries the names in turn; empty: "libxgboost.so.0", "libxgboost.so". kUnavailable,
// saying what to install.
Result<XgboostApi> OpenXgboost(std::span<const std::string> names);

// From now on the library's own lines go to `log`, each text once; nullptr ends it. One log per
// process at a time, because the library's callback carries no context.
void RouteLibraryLog(const XgboostApi& api, JobLog* log);

// "label must be in [0,1] …" out of "[12:00:00] ../src/objective/….cc:82: label must be … Stack
// trace: …".
std::string WithoutTrace(std::string_view library_text);

}  // namespace sabia::algorithms
