// Prefix reuse in steps: what a run's prompts offered, what the choice of endpoint kept together,
// what the server says it delivered. All counts are prompt tokens, in whole blocks of the server's
// prefix cache.
//
// A prompt is a list of symbols (token ids, or bytes of which four stand for a token), cut into
// blocks; a block's name is a 64-bit hash of all symbols up to its end and of what no cache shares
// across (the model, the tools). So the table of names is the radix tree of all prompts, cut at
// blocks. The rules:
//
//   sent       A prompt's blocks are offered to the queries that were sent later, never to itself
//              or to one that was sent at the same instant.
//   answered   A query whose reply never began offers nothing: its prompt may never have been
//              computed.
//   offered    The leading blocks of a prompt that an earlier query offered, by a cache that
//              forgets nothing; at most one token less than the prompt, since the last token is
//              always computed.
//   in time    Those of them whose first offerer's reply had begun before the query was sent. The
//              others were on their way: a server may or may not have had them.
//   routed     As offered, among the queries that went to the same endpoint. Known only where the
//              client chose among several endpoints.
//   delivered  cached_tokens of the replies' usage. Null is unknown, not zero: such replies are
//              left out of every sum but the first.
//
// The sums are over successful queries of performance phases; all other queries offer only. What a
// reply itself adds to a cache is not known here, and a cache may be warm from before the run:
// `beyond` has what was delivered and not offered. Pure; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "observe/observed.h"

namespace assay::observe {

inline constexpr std::string_view kPrefixReuseName = "prefix_reuse.json";
inline constexpr std::size_t kReuseBlocksMax = std::size_t{16} << 20;  // names in the tables

// The names of a prompt's whole blocks. `symbols`: bytes of all symbols, `block_bytes` a block.
// `scope`: what a cache does not share across.
std::vector<std::uint64_t> block_names(std::string_view scope, std::string_view symbols,
                                       std::size_t block_bytes);

struct ReuseQuery {
  Instant sent{};
  Instant first_token = Instant::none();  // after `sent`; none: the reply never began
  std::uint16_t endpoint = 0;
  bool counted = false;  // successful, of a performance phase
  std::uint32_t prompt_tokens = 0;
  std::int32_t cached_tokens = -1;  // as the reply's usage has it; negative: unknown
  std::vector<std::uint64_t> blocks{};
};

struct ReuseSums {
  std::uint64_t queries = 0;  // counted ones
  std::uint64_t silent = 0;   // of those, without cached tokens in their usage: in no sum below
  std::uint64_t prompt_tokens = 0;
  std::uint64_t offered = 0;
  std::uint64_t in_time = 0;
  std::optional<std::uint64_t> routed{};  // where several endpoints were used
  std::uint64_t delivered = 0;
  std::uint64_t beyond = 0;  // delivered to a query above what it was offered
  bool operator==(const ReuseSums&) const = default;
};

struct PrefixReuse {
  std::uint32_t block = 0;  // tokens
  std::string symbols{};    // "token ids", "bytes, 4 a token", or both
  std::uint32_t endpoints = 1;
  // Where no reply says what it had from a cache, these are of all counted queries.
  bool delivery_known = false;
  ReuseSums sums{};
  std::string trouble{};  // why there are no figures, or not all; "" for a whole account
};

// Makes the account. The queries are put in order of `sent` by the call.
PrefixReuse account_reuse(std::vector<ReuseQuery> queries, std::uint32_t block,
                          std::uint32_t endpoints);

Json to_json(const PrefixReuse& reuse);
Result<PrefixReuse> prefix_reuse_from(const Json& json);
// The waterfall for a report: the name of a line and its text. `observed`: the server's own
// counters, where they were read; may be null.
std::vector<std::pair<std::string, std::string>> reuse_lines(const PrefixReuse& reuse,
                                                             const Observed* observed);

}  // namespace assay::observe
