// prefix_blocks: names for the KV blocks of a prompt, from its text: equal beginnings give equal
// names, so that a modelled prefix cache is hit when prompts share a beginning, and no tokenizer is
// needed. Four bytes count as a token, as estimate_tokens() has it. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::endpoint {

// `body`: a request's JSON; hashing starts at its messages, prompt or input. At most
// prompt_tokens / block_tokens names.
std::vector<std::uint64_t> prefix_blocks(std::string_view body, std::uint32_t prompt_tokens,
                                         std::uint32_t block_tokens);

}  // namespace assay::endpoint
