#include "observe/prefix_reuse.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::observe {
namespace {

// The queries that offer one block: the first that was sent, and the first whose reply began.
struct Offer {
  Instant sent{};
  Instant first_token{};
};
using OfferTable = std::unordered_map<std::uint64_t, Offer>;

struct Leading {
  std::size_t offered = 0;
  std::size_t in_time = 0;
};

// Blocks of a chain are offered from its beginning on, so the first one that is not ends the walk.
Leading leading_blocks(const OfferTable& table, const ReuseQuery& query) {
  Leading out;
  bool in_time = true;
  for (const std::uint64_t name : query.blocks) {
    const auto found = table.find(name);
    if (found == table.end() || found->second.sent >= query.sent) break;
    ++out.offered;
    in_time = in_time && found->second.first_token <= query.sent;
    if (in_time) ++out.in_time;
  }
  return out;
}

void add_offer(OfferTable& table, const ReuseQuery& query) {
  if (!query.first_token.known()) return;
  for (const std::uint64_t name : query.blocks) {
    const auto [place, is_new] = table.try_emplace(name, Offer{query.sent, query.first_token});
    if (!is_new) {
      place->second.first_token = std::min(place->second.first_token, query.first_token);
    }
  }
}

std::uint64_t tokens_of(std::size_t blocks, std::uint32_t block, std::uint32_t prompt_tokens) {
  if (prompt_tokens == 0) return 0;
  const std::size_t most = (prompt_tokens - 1) / block;
  return std::min(blocks, most) * std::uint64_t{block};
}

class Account {
 public:
  Account(std::uint32_t block, std::uint32_t endpoints, bool only_told)
      : block_(block), only_told_(only_told) {
    if (endpoints > 1) {
      of_endpoint_.resize(endpoints);
      sums_.routed = 0;
    }
  }

  void take(const ReuseQuery& query) {
    if (query.counted) count(query);
    add_offer(all_, query);
    if (query.endpoint < of_endpoint_.size()) add_offer(of_endpoint_[query.endpoint], query);
  }
  const ReuseSums& sums() const { return sums_; }
  std::size_t names() const {
    std::size_t out = all_.size();
    for (const OfferTable& table : of_endpoint_) out += table.size();
    return out;
  }

 private:
  void count(const ReuseQuery& query) {
    ++sums_.queries;
    if (query.cached_tokens < 0) {
      ++sums_.silent;
      if (only_told_) return;
    }
    const Leading leading = leading_blocks(all_, query);
    const std::uint64_t offered = tokens_of(leading.offered, block_, query.prompt_tokens);
    sums_.prompt_tokens += query.prompt_tokens;
    sums_.offered += offered;
    sums_.in_time += tokens_of(leading.in_time, block_, query.prompt_tokens);
    if (query.endpoint < of_endpoint_.size()) {
      const std::size_t kept = leading_blocks(of_endpoint_[query.endpoint], query).offered;
      *sums_.routed += tokens_of(kept, block_, query.prompt_tokens);
    }
    if (query.cached_tokens <= 0) return;
    const auto delivered = static_cast<std::uint64_t>(query.cached_tokens);
    sums_.delivered += delivered;
    sums_.beyond += delivered - std::min(delivered, offered);
  }

  std::uint32_t block_;
  bool only_told_;  // sums leave out the queries whose usage has no cached tokens
  OfferTable all_{};
  std::vector<OfferTable> of_endpoint_{};  // of several
  ReuseSums sums_{};
};

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "none";
  return format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string tokens_text(std::uint64_t tokens) {
  return with_thousands(static_cast<std::int64_t>(tokens));
}

// What the server's own counters grew by, in the first window and source that has them.
std::string counters_text(const Observed* observed) {
  if (observed == nullptr) return {};
  for (const ObservedWindow& window : observed->windows) {
    for (const ObservedFigures& hits : window.figures) {
      if (hits.measure->id == "cached_tokens") {
        return format("by its counters about {:.0f}", hits.figures.delta);
      }
      if (hits.measure->id != "prefix_hit_tokens") continue;
      for (const ObservedFigures& asked : window.figures) {
        if (asked.source != hits.source || asked.measure->id != "prefix_queried_tokens") continue;
        return format("by its counters about {:.0f} of {:.0f} looked up", hits.figures.delta,
                      asked.figures.delta);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::uint64_t> block_names(std::string_view scope, std::string_view symbols,
                                       std::size_t block_bytes) {
  std::vector<std::uint64_t> out;
  if (block_bytes == 0) return out;
  out.reserve(symbols.size() / block_bytes);
  std::uint64_t chain = xxh3(scope);
  for (std::size_t at = 0; at + block_bytes <= symbols.size(); at += block_bytes) {
    const std::uint64_t both[2] = {chain, xxh3(symbols.substr(at, block_bytes))};
    chain = xxh3({reinterpret_cast<const char*>(both), sizeof both});
    out.push_back(chain);
  }
  return out;
}

PrefixReuse account_reuse(std::vector<ReuseQuery> queries, std::uint32_t block,
                          std::uint32_t endpoints) {
  PrefixReuse out{.block = block, .endpoints = endpoints};
  std::ranges::stable_sort(queries, {}, &ReuseQuery::sent);
  out.delivery_known = std::ranges::any_of(
      queries, [](const ReuseQuery& query) { return query.counted && query.cached_tokens >= 0; });
  Account account(block, endpoints, out.delivery_known);
  for (const ReuseQuery& query : queries) {
    account.take(query);
    if (account.names() <= kReuseBlocksMax) continue;
    out.trouble = format("the prompts have more than {} different blocks of {} tokens",
                         tokens_text(kReuseBlocksMax), block);
    return out;
  }
  out.sums = account.sums();
  return out;
}

Json to_json(const PrefixReuse& reuse) {
  const ReuseSums& sums = reuse.sums;
  return Json()
      .set("block_tokens", reuse.block)
      .set("symbols", reuse.symbols)
      .set("endpoints", reuse.endpoints)
      .set("trouble", reuse.trouble.empty() ? Json() : Json(reuse.trouble))
      .set("queries", sums.queries)
      .set("queries_without_cached_tokens", sums.silent)
      .set("prompt_tokens", sums.prompt_tokens)
      .set("offered_tokens", sums.offered)
      .set("in_time_tokens", sums.in_time)
      .set("routed_tokens", sums.routed ? Json(*sums.routed) : Json())
      .set("delivered_tokens", reuse.delivery_known ? Json(sums.delivered) : Json())
      .set("delivered_beyond_offered_tokens", reuse.delivery_known ? Json(sums.beyond) : Json());
}

Result<PrefixReuse> prefix_reuse_from(const Json& json) {
  if (!json.is_object() || json["block_tokens"].as_uint() == 0 ||
      json.find("offered_tokens") == nullptr) {
    return invalid("no account of prefix reuse: block_tokens and offered_tokens are missing");
  }
  PrefixReuse out{.block = static_cast<std::uint32_t>(json["block_tokens"].as_uint()),
                  .symbols = std::string(json["symbols"].as_string()),
                  .endpoints = static_cast<std::uint32_t>(json["endpoints"].as_uint()),
                  .delivery_known = !json["delivered_tokens"].is_null(),
                  .trouble = std::string(json["trouble"].as_string())};
  out.sums = {.queries = json["queries"].as_uint(),
              .silent = json["queries_without_cached_tokens"].as_uint(),
              .prompt_tokens = json["prompt_tokens"].as_uint(),
              .offered = json["offered_tokens"].as_uint(),
              .in_time = json["in_time_tokens"].as_uint(),
              .delivered = json["delivered_tokens"].as_uint(),
              .beyond = json["delivered_beyond_offered_tokens"].as_uint()};
  if (!json["routed_tokens"].is_null()) out.sums.routed = json["routed_tokens"].as_uint();
  return out;
}

std::vector<std::pair<std::string, std::string>> reuse_lines(const PrefixReuse& reuse,
                                                             const Observed* observed) {
  const std::string name = "prefixes";
  std::vector<std::pair<std::string, std::string>> out;
  if (!reuse.trouble.empty()) {
    out.emplace_back(name, "not known: " + reuse.trouble);
    return out;
  }
  const ReuseSums& sums = reuse.sums;
  const std::uint64_t all = sums.prompt_tokens;
  out.emplace_back(name,
                   format("{} tokens in {} prompts, in blocks of {} tokens ({})", tokens_text(all),
                          tokens_text(sums.queries), reuse.block, reuse.symbols));
  out.emplace_back("  offered",
                   format("{} tokens, {} of them: an earlier prompt began the same way; {} of "
                          "these in time",
                          tokens_text(sums.offered), share_text(sums.offered, all),
                          share_text(sums.in_time, sums.offered)));
  out.emplace_back(
      "  routed",
      sums.routed
          ? format("{} tokens, {} of the offered: to the endpoint that had them",
                   tokens_text(*sums.routed), share_text(*sums.routed, sums.offered))
          : "not known: the client saw one address, which may have several replicas behind it");
  const std::string counters = counters_text(observed);
  std::string delivered = "not known: no reply has cached tokens in its usage";
  if (reuse.delivery_known) {
    delivered = format("{} tokens, {} of the offered", tokens_text(sums.delivered),
                       share_text(sums.delivered, sums.offered));
    if (sums.silent > 0) {
      delivered +=
          format("; {} without a count left out", counted(sums.silent, "reply is", "replies are"));
    }
    if (sums.beyond > 0) {
      delivered += format("; {} tokens beyond the offered: the cache was warm before, or shared",
                          tokens_text(sums.beyond));
    }
  }
  if (!counters.empty()) delivered += "; " + counters;
  out.emplace_back("  delivered", delivered);
  return out;
}

}  // namespace assay::observe
