// schema_gen ACTIONS_FILE OUTPUT_FOLDER SCHEMA...
//
// Writes <service>.h and <service>.cc for each schema, and embedded.h and embedded.cc for all. A
// file whose text would not change is left alone, so that nothing is compiled in vain.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>

#include "emit.h"

namespace sabia::schema_gen {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Fail(ErrorCode::kNotFound, "failed to open '{}'", path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Status WriteFile(const std::string& path, const std::string& text) {
  if (const auto old = ReadFile(path); old && *old == text) return {};
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Fail(ErrorCode::kIo, "failed to write '{}'", path);
  return {};
}

Status Generate(const std::string& actions_path, const std::string& folder,
                std::span<char* const> schemas) {
  ASSIGN_OR_RETURN(const std::string actions_text, ReadFile(actions_path));
  ASSIGN_OR_RETURN(auto actions, ReadActions(actions_text));
  std::filesystem::create_directories(folder);
  SchemaPaths paths;
  for (const std::string path : schemas) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(text));
    auto service = MakeService(document, actions[GetString(document, "service")]);
    if (!service) return Wrap(service.error(), "failed to generate from '" + path + "'");
    RETURN_IF_ERROR(WriteFile(folder + "/" + service->identifier + ".h", EmitHeader(*service)));
    RETURN_IF_ERROR(WriteFile(folder + "/" + service->identifier + ".cc", EmitSource(*service)));
    paths.emplace_back(service->name, path);
    actions.erase(service->name);
  }
  if (!actions.empty()) {
    return Fail(ErrorCode::kNotFound, "no schema of service '{}' in actions.txt",
                actions.begin()->first);
  }
  RETURN_IF_ERROR(WriteFile(folder + "/embedded.h", EmitEmbeddedHeader(paths)));
  return WriteFile(folder + "/embedded.cc", EmitEmbeddedSource(paths));
}

}  // namespace
}  // namespace sabia::schema_gen

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: schema_gen ACTIONS_FILE OUTPUT_FOLDER SCHEMA...\n";
    return 2;
  }
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  const auto done = sabia::schema_gen::Generate(argv[1], argv[2], arguments.subspan(3));
  if (done) return 0;
  std::cerr << "schema_gen: " << done.error().message << "\n";
  return 1;
}
