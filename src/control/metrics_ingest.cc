#include "control/metrics_ingest.h"

#include <cmath>

namespace sabia::control {
namespace {

constexpr std::string_view kNamespace = "/aws/sagemaker/TrainingJobs";
constexpr std::string_view kDimension = "TrainingJobName";

std::optional<store::Series::Sample> ParseLine(std::string_view line, const std::string& job_name) {
  const auto object = ParseJsonObject(line);
  if (!object) return std::nullopt;
  const auto name = FindString(*object, "name");
  const auto value = FindDouble(*object, "value");
  const auto time = FindInt(*object, "time");
  if (!name || name->empty() || !value || !std::isfinite(*value) || !time) return std::nullopt;
  store::Series::Sample sample;
  sample.key = TrainingMetricKey(job_name, std::string(*name));
  if (const json::object* dimensions = FindObject(*object, "dimensions")) {
    sample.key.dimensions.clear();
    for (const auto& [key, text] : *dimensions) {
      if (text.is_string()) sample.key.dimensions.emplace(key, View(text.get_string()));
    }
  }
  sample.point.unit = GetString(*object, "unit");
  sample.point.time = FromUnixMillis(*time);
  sample.point.value = sample.point.minimum = sample.point.maximum = *value;
  return sample;
}

// Whole lines only; the length of what they take is returned.
std::size_t ParseLines(std::string_view text, const std::string& job_name,
                       std::vector<store::Series::Sample>& samples) {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return begin;
    if (auto sample = ParseLine(text.substr(begin, end - begin), job_name))
      samples.push_back(std::move(*sample));
    begin = end + 1;
  }
}

}  // namespace

store::SeriesKey TrainingMetricKey(const std::string& job_name, const std::string& metric) {
  return {std::string(kNamespace), metric, {{std::string(kDimension), job_name}}};
}

Status IngestMetrics(const Ports& ports, MetricCursor& cursor, std::uint64_t bytes) {
  if (bytes == 0) return {};
  if (!cursor.offset) {
    ASSIGN_OR_RETURN(cursor.offset, ports.metrics.Offset(cursor.instance));
  }
  while (*cursor.offset < bytes) {
    ASSIGN_OR_RETURN(const std::string text,
                     ports.files.ReadMetrics(cursor.instance, *cursor.offset, kMetricChunkBytes));
    MetricSink::Batch batch{cursor.instance, *cursor.offset, *cursor.offset, {}};
    std::size_t taken = ParseLines(text, cursor.job_name, batch.samples);
    if (taken == 0 && text.size() == kMetricChunkBytes)
      taken = text.size();  // no line is that long: skip it
    if (taken == 0) return {};
    batch.to += taken;
    const Status stored = ports.metrics.Ingest(batch);
    if (!stored) {
      cursor.offset.reset();
      return stored;
    }
    cursor.offset = batch.to;
  }
  return {};
}

}  // namespace sabia::control
