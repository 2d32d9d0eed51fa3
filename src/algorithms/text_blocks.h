// Texts cut at line ends and parsed by several threads, in order.
//
// Threading: ParseBlocks starts its own threads and joins them. Errors: the one that comes first in
// the texts.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/data_table.h"
#include "base/result.h"

namespace sabia::algorithms {

struct NamedText {
  std::string name;       // for messages
  std::string_view text;  // outlives the call
};

// One piece of a text. `whole` allows a message to count lines from the start of the file.
struct TextBlock {
  const NamedText* whole = nullptr;
  std::string_view text;
};

using BlockParser = std::function<Status(const TextBlock&, RowBlock*)>;

Result<std::vector<RowBlock>> ParseBlocks(const std::vector<NamedText>& texts,
                                          const BlockParser& parse, int threads);

// Calls `on_line` for each line that is not blank, without its line end. Stops at the first error.
Status ForEachLine(std::string_view text, const std::function<Status(std::string_view)>& on_line);

// kInvalidArgument: "line 3 of file 'a.csv': <problem>"; `at` points into the block's text.
tl::unexpected<Error> FailAt(const TextBlock& block, const char* at, std::string_view problem);

// The item for messages: at most 50 characters.
std::string_view Snippet(std::string_view item);

}  // namespace sabia::algorithms
