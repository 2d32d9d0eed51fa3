#include "cli/price_files.h"

namespace sabia::cli {
namespace {

constexpr std::string_view kSuffix = ".csv";

Status AddFile(env::Files& files, const env::Path& path, cost::PriceLists& lists) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(path));
  ASSIGN_OR_RETURN(cost::PriceBook book, cost::PriceBook::Parse(text));
  return lists.Add(path.stem().native(), std::move(book));
}

}  // namespace

Result<std::shared_ptr<const cost::PriceLists>> ReadPriceLists(env::Files& files,
                                                               const store::Paths& paths) {
  auto lists = std::make_shared<cost::PriceLists>(cost::PriceLists::BuiltIn());
  ASSIGN_OR_RETURN(const bool there, files.Exists(paths.prices()));
  if (!there) return lists;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(paths.prices()));
  for (const std::string& name : names) {
    const env::Path path = paths.prices() / name;
    if (!name.ends_with(kSuffix)) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is no price list: they are named <date>.csv",
                  path.native());
    }
    if (Status added = AddFile(files, path, *lists); !added) {
      return Wrap(std::move(added).error(), fmt::format("price list '{}'", path.native()));
    }
  }
  return lists;
}

}  // namespace sabia::cli
