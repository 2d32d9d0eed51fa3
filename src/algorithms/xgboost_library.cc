#include "algorithms/xgboost_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "algorithms/python_text.h"

namespace sabia::algorithms {
namespace {

constexpr const char* kMissing =
    "XGBoost is not installed: {}. Install the package libxgboost0 (apt-get install "
    "libxgboost-dev)";

template <typename Function>
bool Find(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(::dlsym(library, name));
  return *out != nullptr;
}

// The name of the first function that is not there, or nullptr.
const char* FindAll(void* library, XgboostApi* api) {
#define SABIA_FIND(member, name) \
  if (!Find(library, #name, &api->member)) return #name
  SABIA_FIND(last_error, XGBGetLastError);
  SABIA_FIND(version, XGBoostVersion);
  SABIA_FIND(set_log, XGBRegisterLogCallback);
  SABIA_FIND(matrix_from_dense, XGDMatrixCreateFromDense);
  SABIA_FIND(matrix_from_csr, XGDMatrixCreateFromCSR);
  SABIA_FIND(matrix_slice, XGDMatrixSliceDMatrix);
  SABIA_FIND(matrix_set_floats, XGDMatrixSetFloatInfo);
  SABIA_FIND(matrix_set_integers, XGDMatrixSetUIntInfo);
  SABIA_FIND(matrix_rows, XGDMatrixNumRow);
  SABIA_FIND(matrix_columns, XGDMatrixNumCol);
  SABIA_FIND(matrix_free, XGDMatrixFree);
  SABIA_FIND(booster_create, XGBoosterCreate);
  SABIA_FIND(booster_free, XGBoosterFree);
  SABIA_FIND(booster_set, XGBoosterSetParam);
  SABIA_FIND(booster_update, XGBoosterUpdateOneIter);
  SABIA_FIND(booster_evaluate, XGBoosterEvalOneIter);
  SABIA_FIND(booster_predict, XGBoosterPredictFromDMatrix);
  SABIA_FIND(booster_save, XGBoosterSaveModelToBuffer);
  SABIA_FIND(booster_load, XGBoosterLoadModelFromBuffer);
  SABIA_FIND(booster_rounds, XGBoosterBoostedRounds);
  SABIA_FIND(booster_slice, XGBoosterSlice);
  SABIA_FIND(booster_set_attribute, XGBoosterSetAttr);
  SABIA_FIND(booster_attribute, XGBoosterGetAttr);
  SABIA_FIND(booster_features, XGBoosterGetNumFeature);
#undef SABIA_FIND
  return nullptr;
}

std::mutex log_mutex;
JobLog* library_log = nullptr;      // guarded by log_mutex
std::set<std::string> lines_shown;  // guarded by log_mutex; without the time in front
constexpr std::size_t kLinesShownMax = 1000;

void OnLibraryLine(const char* text) {
  const std::lock_guard lock(log_mutex);
  const std::string_view line = Trim(text);
  const std::size_t time_end = line.find("] ");
  const std::string_view body =
      time_end == std::string_view::npos ? line : line.substr(time_end + 2);
  if (!library_log || lines_shown.size() > kLinesShownMax) return;
  if (lines_shown.emplace(body).second) library_log->Plain(line);
}

// The OpenMP runtime of the library reads its environment once, when it is loaded. By default its
// threads spin for milliseconds at each of the many short parallel regions of a round; as soon as
// jobs share CPUs that costs whole time slices (100 rounds on Abalone beside a compiler: 40 s
// instead of 1 s). A thousand turns bridge the usual gap. What the user's environment says wins.
void CurbSpinning() { ::setenv("GOMP_SPINCOUNT", "1000", 0); }

}  // namespace

std::string WithoutTrace(std::string_view text) {
  text = Trim(text.substr(0, text.find("Stack trace:")));
  // "[12:00:00] " then "path:line: "
  if (text.starts_with('['))
    text = Trim(text.substr(std::min(text.find(']'), text.size() - 1) + 1));
  const std::size_t source = text.find(".cc:");
  const std::size_t header = text.find(".h:");
  const std::size_t place = std::min(source, header);
  const std::size_t end = place == std::string_view::npos ? place : text.find(": ", place);
  const bool is_path =
      end != std::string_view::npos && text.substr(0, end).find(' ') == std::string_view::npos;
  return std::string(is_path ? Trim(text.substr(end + 2)) : text);
}

Status XgboostApi::Check(int code) const {
  if (code == 0) return {};
  return Fail(ErrorCode::kInvalidArgument, "{}", WithoutTrace(last_error()));
}

Result<XgboostApi> OpenXgboost(std::span<const std::string> names) {
  std::vector<std::string> tried(names.begin(), names.end());
  if (tried.empty()) tried = {"libxgboost.so.0", "libxgboost.so"};
  CurbSpinning();
  std::string problem;
  for (const std::string& name : tried) {
    void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* const why = ::dlerror();
      if (problem.empty()) problem = why ? why : name;
      continue;
    }
    XgboostApi api;
    if (const char* const missing = FindAll(library, &api)) {
      return Fail(ErrorCode::kUnavailable, "'{}' is no XGBoost of 1.7 or later: it has no {}", name,
                  missing);
    }
    int patch = 0;
    api.version(&api.major, &api.minor, &patch);
    return api;
  }
  return Fail(ErrorCode::kUnavailable, fmt::runtime(kMissing), problem);
}

void RouteLibraryLog(const XgboostApi& api, JobLog* log) {
  {
    const std::lock_guard lock(log_mutex);
    library_log = log;
    lines_shown.clear();
  }
  if (log) api.set_log(&OnLibraryLine);
}

}  // namespace sabia::algorithms
