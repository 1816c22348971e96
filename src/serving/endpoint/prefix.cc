#include "endpoint/prefix.h"

#include <algorithm>

#include "base/hash.h"

namespace assay::endpoint {

std::vector<std::uint64_t> prefix_blocks(std::string_view body, std::uint32_t prompt_tokens,
                                         std::uint32_t block_tokens) {
  std::vector<std::uint64_t> out;
  std::size_t from = body.size();
  for (const std::string_view key : {"\"messages\"", "\"prompt\"", "\"input\"", "\"text\""}) {
    from = std::min(from, body.find(key));
  }
  if (from >= body.size() || block_tokens == 0) return out;
  const std::string_view prompt = body.substr(from);
  const std::size_t piece = std::size_t{4} * block_tokens;
  std::uint64_t chain = 0;
  for (std::size_t at = 0; at + piece <= prompt.size(); at += piece) {
    if (out.size() == prompt_tokens / block_tokens) break;
    chain = (chain ^ xxh3(prompt.substr(at, piece))) * 0x9e3779b97f4a7c15;
    out.push_back(chain);
  }
  return out;
}

}  // namespace assay::endpoint
