#include "dataset/made_block.h"

#include "dataset/synthetic.h"

namespace assay::dataset {
namespace {

constexpr std::int32_t kFirstId = 1000;  // as in SyntheticSpec
constexpr std::uint64_t kIds = 29000;

}  // namespace

void append_made(Sample& sample, std::int64_t size, std::int64_t block, Rng& rng, bool token_ids) {
  if (token_ids) {
    for (std::int64_t i = 0; i < size; ++i) {
      sample.input_tokens.push_back(kFirstId + static_cast<std::int32_t>(rng.below(kIds)));
    }
    return;
  }
  if (!sample.prompt.empty()) sample.prompt += ' ';
  if (size == block) {
    sample.prompt += synthetic_text(block, rng);
    return;
  }
  // Takes the full block's first words, in number as `size` tokens have them.
  const std::string full = synthetic_text(block, rng);
  std::size_t end = 0;
  for (std::int64_t words = synthetic_words(size); words > 0 && end < full.size(); --words) {
    end = full.find(' ', end == 0 ? 0 : end + 1);
    if (end == std::string::npos) end = full.size();
  }
  sample.prompt += full.substr(0, end);
}

}  // namespace assay::dataset
