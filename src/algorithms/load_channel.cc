#include "algorithms/load_channel.h"

#include <string>
#include <vector>

#include "algorithms/csv_reader.h"
#include "algorithms/data_files.h"
#include "algorithms/libsvm_reader.h"
#include "algorithms/recordio_reader.h"
#include "algorithms/text_blocks.h"

namespace sabia::algorithms {
namespace {

std::string_view NameOf(DataFormat format) {
  switch (format) {
    case DataFormat::kCsv:
      return "csv";
    case DataFormat::kLibsvm:
      return "libsvm";
    case DataFormat::kRecordIo:
      return "recordio-protobuf";
  }
  return "";
}

bool HasRows(const NamedText& named, DataFormat format) {
  return format == DataFormat::kRecordIo
             ? !named.text.empty()
             : named.text.find_first_not_of(" \t\r\n") != std::string_view::npos;
}

// The first line that is not blank.
std::string_view FirstLine(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  return text.substr(0, text.find('\n'));
}

Result<DataTable> Read(const std::vector<NamedText>& texts, const LoadOptions& options,
                       JobLog& log) {
  switch (options.format) {
    case DataFormat::kCsv: {
      ASSIGN_OR_RETURN(const char delimiter, SniffDelimiter(FirstLine(texts[0].text)));
      log.Info("Determined delimiter of CSV input is '{}'", delimiter);
      return ReadCsv(texts, delimiter,
                     {.weights = options.csv_weights, .threads = options.threads});
    }
    case DataFormat::kLibsvm:
      return ReadLibsvm(texts, {.threads = options.threads});
    case DataFormat::kRecordIo:
      return ReadRecordIo(texts);
  }
  return Fail(ErrorCode::kInternal, "no such data format");
}

// The image's frame around a parser's complaint; its own texts stay as they are.
Error Frame(Error error, DataFormat format) {
  const bool own = error.message.starts_with("First line '") ||
                   error.message.starts_with("Could not determine delimiter");
  if (!own) {
    error.message =
        fmt::format("Failed to load {} data with exception:\n{}", NameOf(format), error.message);
  }
  return error;
}

}  // namespace

Result<DataTable> LoadChannel(const std::filesystem::path& data, std::string_view channel,
                              const LoadOptions& options, JobLog& log) {
  std::vector<DataFile> files;
  if (options.pipe) {
    const std::string name = std::string(channel) + "_0";
    files.push_back({data / name, name, 0});
  } else {
    ASSIGN_OR_RETURN(files, ListDataFiles(data / channel));
  }
  std::vector<FileBytes> bytes;
  bytes.reserve(files.size());
  std::vector<NamedText> texts;
  for (const DataFile& file : files) {
    ASSIGN_OR_RETURN(FileBytes content, FileBytes::Open(file.path));
    bytes.push_back(std::move(content));
    texts.push_back({file.name, bytes.back().view()});
    if (!HasRows(texts.back(), options.format)) texts.pop_back();
  }
  if (texts.empty()) return DataTable{};
  auto table = Read(texts, options, log);
  if (!table) return tl::unexpected<Error>(Frame(std::move(table).error(), options.format));
  return table;
}

Result<DataTable> ReadRowsToPredict(std::string_view text, DataFormat format, int threads) {
  const std::vector<NamedText> texts = {{"standard input", text}};
  if (!HasRows(texts[0], format)) return DataTable{};
  if (format == DataFormat::kLibsvm)
    return ReadLibsvm(texts, {.labels = false, .threads = threads});
  if (format == DataFormat::kRecordIo) {
    return Fail(ErrorCode::kUnimplemented, "predict reads text/csv and text/libsvm");
  }
  auto delimiter = SniffDelimiter(FirstLine(text));
  // A single feature has no delimiter; any that the row does not hold will do.
  return ReadCsv(texts, delimiter.value_or(','), {.labels = false, .threads = threads});
}

}  // namespace sabia::algorithms
