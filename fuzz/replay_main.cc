// replay CORPUS_FOLDER MUTATIONS: runs a fuzzer without libFuzzer.
//
// Each file of the corpus, in the order of the names, then MUTATIONS changed copies of them. The
// changes depend on nothing but the corpus and the count, so that a failure repeats.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kInputBytesMax = 64 << 10;

class SplitMix {
 public:
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::size_t Below(std::size_t bound) { return bound == 0 ? 0 : Next() % bound; }

 private:
  std::uint64_t state_ = 41;
};

std::vector<std::string> ReadCorpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// One edit: flip a bit, drop or double a stretch, insert a telling byte, or splice with another
// input.
void Mutate(std::string& text, const std::vector<std::string>& corpus, SplitMix& random) {
  using namespace std::string_view_literals;
  static constexpr std::string_view kTelling = "\0\xff\"{}[]<>&=%./\\:,-+e019\n\r "sv;
  const std::size_t at = random.Below(text.size() + 1);
  const std::size_t length = std::min(random.Below(16) + 1, text.size() - at);
  switch (random.Below(5)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3:
      text.insert(at, 1, kTelling[random.Below(kTelling.size())]);
      break;
    default: {
      const std::string& other = corpus[random.Below(corpus.size())];
      text = text.substr(0, at) + other.substr(random.Below(other.size() + 1));
    }
  }
  text.resize(std::min(text.size(), kInputBytesMax));
}

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: replay CORPUS_FOLDER MUTATIONS\n";
    return 2;
  }
  const auto corpus = ReadCorpus(argv[1]);
  if (corpus.empty()) {
    std::cerr << "no corpus in " << argv[1] << "\n";
    return 1;
  }
  const long mutations = std::strtol(argv[2], nullptr, 10);
  for (const auto& input : corpus) Run(input);
  SplitMix random;
  for (long i = 0; i < mutations; ++i) {
    std::string input = corpus[random.Below(corpus.size())];
    for (std::size_t edits = random.Below(4) + 1; edits > 0; --edits) Mutate(input, corpus, random);
    Run(input);
  }
  std::cout << "replayed " << corpus.size() << " inputs and " << mutations << " mutations\n";
  return 0;
}
