#include "algorithms/text_blocks.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace sabia::algorithms {
namespace {

// Large enough that cutting costs nothing, small enough that two threads share a small file's tail.
constexpr std::size_t kBlockBytes = 1 << 20;

std::vector<TextBlock> Cut(const std::vector<NamedText>& texts) {
  std::vector<TextBlock> blocks;
  for (const NamedText& named : texts) {
    std::string_view rest = named.text;
    while (!rest.empty()) {
      std::size_t end = rest.size();
      if (rest.size() > kBlockBytes) {
        const std::size_t line_end = rest.find('\n', kBlockBytes);
        if (line_end != std::string_view::npos) end = line_end + 1;
      }
      blocks.push_back({&named, rest.substr(0, end)});
      rest.remove_prefix(end);
    }
  }
  return blocks;
}

}  // namespace

Result<std::vector<RowBlock>> ParseBlocks(const std::vector<NamedText>& texts,
                                          const BlockParser& parse, int threads) {
  const std::vector<TextBlock> blocks = Cut(texts);
  std::vector<RowBlock> rows(blocks.size());
  std::vector<std::optional<Error>> errors(blocks.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= blocks.size()) return;
      if (Status status = parse(blocks[i], &rows[i]); !status) {
        errors[i] = std::move(status).error();
        failed = true;
      }
    }
  };
  const std::size_t helpers =
      std::min<std::size_t>(blocks.size(), static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::thread> pool;
  for (std::size_t i = 1; i < helpers; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  // Blocks are taken in order, so an earlier block was finished or is among the errors.
  for (std::optional<Error>& error : errors) {
    if (error) return tl::unexpected<Error>(std::move(*error));
  }
  return rows;
}

Status ForEachLine(std::string_view text, const std::function<Status(std::string_view)>& on_line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    RETURN_IF_ERROR(on_line(line));
  }
  return {};
}

tl::unexpected<Error> FailAt(const TextBlock& block, const char* at, std::string_view problem) {
  const char* const begin = block.whole->text.data();
  const auto line = 1 + std::count(begin, at, '\n');
  return Fail(ErrorCode::kInvalidArgument, "line {} of file '{}': {}", line, block.whole->name,
              problem);
}

std::string_view Snippet(std::string_view item) { return item.substr(0, 50); }

}  // namespace sabia::algorithms
