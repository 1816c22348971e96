#include "sim/workload.h"

#include <algorithm>

namespace assay::sim {

std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

LengthList::LengthList(const Workload& workload, std::uint32_t count, std::uint64_t seed)
    : workload_(workload), inputs_(seed), outputs_(seed + 1) {
  if (count > kListedMax) return;
  order_ = SampleOrder::shuffled(count, seed);
  listed_.reserve(count);
  while (listed_.size() < count) listed_.push_back(draw());
}

Lengths LengthList::draw() {
  Lengths out;
  out.input = workload_.input(inputs_);
  out.output = workload_.output(outputs_);
  return out;
}

namespace {

// Adds the hashes of the prompt's blocks: `common` blocks of that prefix, then its own.
void add_blocks(Request& request, std::uint32_t common, std::uint64_t prefix,
                std::uint32_t block_tokens) {
  std::uint64_t chain = 0;
  for (std::uint32_t i = 0; i < request.prompt_tokens / block_tokens; ++i) {
    chain = mix_seed(chain, i < common ? prefix : mix_seed(request.id, ~std::uint64_t{0}));
    request.prefix_blocks.push_back(chain);
  }
}

// Adds the hashes of a prompt that walked down `tree`: a block is shared with all prompts that took
// the same branches up to the level in which it ends.
void add_path(Request& request, const std::vector<PrefixLevel>& tree, std::uint32_t block_tokens,
              Rng& rng) {
  const std::uint32_t blocks = request.prompt_tokens / block_tokens;
  std::uint64_t chain = 0;
  std::uint64_t path = 0;
  std::uint64_t end = 0;  // of the level, in tokens
  std::uint32_t block = 0;
  for (const PrefixLevel& level : tree) {
    path = mix_seed(path, rng.below(std::max(1U, level.branches)) + 1);
    end += level.tokens;
    const std::uint64_t shared = std::min<std::uint64_t>(end, request.prompt_tokens - 1);
    for (; block < blocks && std::uint64_t{block + 1} * block_tokens <= shared; ++block) {
      chain = mix_seed(chain, path);
      request.prefix_blocks.push_back(chain);
    }
  }
  for (; block < blocks; ++block) {
    chain = mix_seed(chain, mix_seed(request.id, ~std::uint64_t{0}));
    request.prefix_blocks.push_back(chain);
  }
}

}  // namespace

Request make_request(const Workload& workload, Lengths lengths, std::uint64_t id,
                     std::uint32_t block_tokens, Rng& rng) {
  Request request;
  request.id = id;
  request.prompt_tokens = lengths.input;
  request.output_tokens = lengths.output;
  if (workload.common_share > 0) {
    const auto shared = static_cast<std::uint32_t>(workload.common_share * lengths.input);
    add_blocks(request, shared / block_tokens, 1, block_tokens);
    return request;
  }
  if (!workload.tree.empty()) add_path(request, workload.tree, block_tokens, rng);
  return request;
}

Request make_request(const Workload& workload, std::uint64_t id, std::uint32_t block_tokens,
                     Rng& rng) {
  Lengths lengths;  // one after the other: arguments have no fixed order
  lengths.input = workload.input(rng);
  lengths.output = workload.output(rng);
  return make_request(workload, lengths, id, block_tokens, rng);
}

}  // namespace assay::sim
