// A matrix and a booster of libxgboost as values that free themselves.
//
// Errors carry the library's own text: kInvalidArgument. Threading: thread-compatible; the library
// uses the number of threads that its parameter nthread says. Lifetime: the XgboostApi outlives
// them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/data_table.h"
#include "algorithms/xgboost_library.h"
#include "base/result.h"

namespace sabia::algorithms {

class Matrix {
 public:
  static Result<Matrix> FromTable(const XgboostApi& api, const DataTable& table, int threads);
  Matrix(Matrix&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix();

  Result<Matrix> Slice(std::span<const int> rows) const;
  std::size_t rows() const;
  std::size_t columns() const;
  DMatrixHandle handle() const { return handle_; }

 private:
  Matrix(const XgboostApi& api, DMatrixHandle handle) : api_(&api), handle_(handle) {}

  const XgboostApi* api_;
  DMatrixHandle handle_;
};

struct Predictions {
  std::size_t rows = 0;
  std::size_t groups = 1;  // values per row
  std::vector<float> values;
};

struct PredictOptions {
  bool margin = false;  // before the objective's transformation
  int rounds = 0;       // of the first so many rounds; 0: all
};

enum class ModelFormat {
  // As Booster.save_model writes a file without extension: binary before 2.0, UBJSON from then on.
  kFile,
  // The binary one does not say how many rounds a linear model has seen.
  kUbjson,
};

class Booster {
 public:
  // The matrices of training and evaluation: the library keeps running predictions for them.
  static Result<Booster> Create(const XgboostApi& api, std::span<const Matrix* const> matrices);
  Booster(Booster&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Booster& operator=(Booster&& other) noexcept;
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster();

  Status Set(const std::string& name, const std::string& value);
  Status Update(int round, const Matrix& train);
  // The library's line: "[3]\ttrain-rmse:1.25…\tvalidation-rmse:…", 17 digits.
  Result<std::string> Evaluate(int round, std::span<const Matrix* const> matrices,
                               std::span<const char* const> names);
  Result<Predictions> Predict(const Matrix& matrix, PredictOptions options);

  Result<std::string> Save(ModelFormat format = ModelFormat::kFile);
  Status Load(std::string_view model);
  // Also makes parameters that were set take effect.
  Result<int> Rounds();
  Result<std::size_t> Features();
  Result<Booster> FirstRounds(int rounds);  // a copy without the later ones
  Status SetAttribute(const std::string& name, const std::optional<std::string>& value);
  std::optional<std::string> Attribute(const std::string& name);

 private:
  Booster(const XgboostApi& api, BoosterHandle handle) : api_(&api), handle_(handle) {}

  const XgboostApi* api_;
  BoosterHandle handle_;
};

}  // namespace sabia::algorithms
