#include "algorithms/booster.h"

#include <cstdint>

namespace sabia::algorithms {
namespace {

// An array for the library as JSON: numpy's array interface.
std::string ArrayInterface(const void* data, std::string_view type, std::string_view shape) {
  return fmt::format(R"({{"data":[{},true],"shape":[{}],"typestr":"{}","version":3}})",
                     reinterpret_cast<std::uintptr_t>(data), shape, type);
}

int Build(const XgboostApi& api, const DataTable& table, int threads, DMatrixHandle* out) {
  const std::string config = fmt::format(R"({{"missing":NaN,"nthread":{}}})", threads);
  if (!table.sparse) {
    const std::string values =
        ArrayInterface(table.values.data(), "<f4", fmt::format("{},{}", table.rows, table.columns));
    return api.matrix_from_dense(values.c_str(), config.c_str(), out);
  }
  const auto flat = [](const void* data, std::string_view type, std::size_t size) {
    return ArrayInterface(data, type, fmt::format("{}", size));
  };
  return api.matrix_from_csr(flat(table.offsets.data(), "<u8", table.offsets.size()).c_str(),
                             flat(table.indices.data(), "<u4", table.indices.size()).c_str(),
                             flat(table.values.data(), "<f4", table.values.size()).c_str(),
                             table.columns, config.c_str(), out);
}

}  // namespace

Result<Matrix> Matrix::FromTable(const XgboostApi& api, const DataTable& table, int threads) {
  DMatrixHandle handle = nullptr;
  RETURN_IF_ERROR(api.Check(Build(api, table, threads, &handle)));
  Matrix matrix(api, handle);
  RETURN_IF_ERROR(
      api.Check(api.matrix_set_floats(handle, "label", table.labels.data(), table.labels.size())));
  if (!table.weights.empty()) {
    RETURN_IF_ERROR(api.Check(
        api.matrix_set_floats(handle, "weight", table.weights.data(), table.weights.size())));
  }
  if (!table.groups.empty()) {
    RETURN_IF_ERROR(api.Check(
        api.matrix_set_integers(handle, "group", table.groups.data(), table.groups.size())));
  }
  return matrix;
}

Matrix::~Matrix() {
  if (handle_) api_->matrix_free(handle_);
}

Result<Matrix> Matrix::Slice(std::span<const int> rows) const {
  DMatrixHandle handle = nullptr;
  RETURN_IF_ERROR(api_->Check(api_->matrix_slice(handle_, rows.data(), rows.size(), &handle)));
  return Matrix(*api_, handle);
}

std::size_t Matrix::rows() const {
  bst_ulong rows = 0;
  api_->matrix_rows(handle_, &rows);
  return rows;
}

std::size_t Matrix::columns() const {
  bst_ulong columns = 0;
  api_->matrix_columns(handle_, &columns);
  return columns;
}

Result<Booster> Booster::Create(const XgboostApi& api, std::span<const Matrix* const> matrices) {
  std::vector<DMatrixHandle> handles;
  for (const Matrix* matrix : matrices) handles.push_back(matrix->handle());
  BoosterHandle handle = nullptr;
  RETURN_IF_ERROR(api.Check(api.booster_create(handles.data(), handles.size(), &handle)));
  return Booster(api, handle);
}

Booster& Booster::operator=(Booster&& other) noexcept {
  if (handle_) api_->booster_free(handle_);
  api_ = other.api_;
  handle_ = std::exchange(other.handle_, nullptr);
  return *this;
}

Booster::~Booster() {
  if (handle_) api_->booster_free(handle_);
}

Status Booster::Set(const std::string& name, const std::string& value) {
  return api_->Check(api_->booster_set(handle_, name.c_str(), value.c_str()));
}

Status Booster::Update(int round, const Matrix& train) {
  return api_->Check(api_->booster_update(handle_, round, train.handle()));
}

Result<std::string> Booster::Evaluate(int round, std::span<const Matrix* const> matrices,
                                      std::span<const char* const> names) {
  std::vector<DMatrixHandle> handles;
  for (const Matrix* matrix : matrices) handles.push_back(matrix->handle());
  std::vector<const char*> texts(names.begin(), names.end());
  const char* line = nullptr;
  RETURN_IF_ERROR(api_->Check(
      api_->booster_evaluate(handle_, round, handles.data(), texts.data(), handles.size(), &line)));
  return std::string(line);
}

Result<Predictions> Booster::Predict(const Matrix& matrix, PredictOptions options) {
  const std::string config = fmt::format(
      R"({{"type":{},"training":false,"iteration_begin":0,"iteration_end":{},"strict_shape":true}})",
      options.margin ? 1 : 0, options.rounds);
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  RETURN_IF_ERROR(api_->Check(api_->booster_predict(handle_, matrix.handle(), config.c_str(),
                                                    &shape, &dimensions, &values)));
  Predictions result;
  result.rows = dimensions > 0 ? shape[0] : 0;
  for (bst_ulong i = 1; i < dimensions; ++i) result.groups *= shape[i];
  result.values.assign(values, values + result.rows * result.groups);
  return result;
}

Result<std::string> Booster::Save(ModelFormat format) {
  RETURN_IF_ERROR(Rounds());  // parameters that were set must have taken effect
  const bool binary = format == ModelFormat::kFile && api_->major < 2;
  const char* const config = binary ? R"({"format":"deprecated"})" : R"({"format":"ubj"})";
  bst_ulong size = 0;
  const char* data = nullptr;
  RETURN_IF_ERROR(api_->Check(api_->booster_save(handle_, config, &size, &data)));
  return std::string(data, size);
}

Status Booster::Load(std::string_view model) {
  return api_->Check(api_->booster_load(handle_, model.data(), model.size()));
}

Result<int> Booster::Rounds() {
  int rounds = 0;
  RETURN_IF_ERROR(api_->Check(api_->booster_rounds(handle_, &rounds)));
  return rounds;
}

Result<std::size_t> Booster::Features() {
  bst_ulong features = 0;
  RETURN_IF_ERROR(api_->Check(api_->booster_features(handle_, &features)));
  return features;
}

Result<Booster> Booster::FirstRounds(int rounds) {
  BoosterHandle handle = nullptr;
  RETURN_IF_ERROR(api_->Check(api_->booster_slice(handle_, 0, rounds, 1, &handle)));
  return Booster(*api_, handle);
}

Status Booster::SetAttribute(const std::string& name, const std::optional<std::string>& value) {
  return api_->Check(
      api_->booster_set_attribute(handle_, name.c_str(), value ? value->c_str() : nullptr));
}

std::optional<std::string> Booster::Attribute(const std::string& name) {
  const char* value = nullptr;
  int found = 0;
  if (api_->booster_attribute(handle_, name.c_str(), &value, &found) != 0 || found == 0)
    return std::nullopt;
  return std::string(value);
}

}  // namespace sabia::algorithms
