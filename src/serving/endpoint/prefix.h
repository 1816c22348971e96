// prefix_blocks names the KV blocks of a prompt by its text: equal beginnings give equal names, so
// that prompts with a common beginning hit a modelled prefix cache without a tokenizer. Four bytes
// count as a token, as in estimate_tokens(). Pure; any thread.
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
