#include "sim/backend.h"

#include <algorithm>
#include <bit>

#include "base/format.h"
#include "sim/fields.h"

namespace assay::sim {

double BackendSpec::kv_bytes(const Subject& subject) const {
  for (const KvRule& rule : kv_rules) {
    if (subject.matches(rule.when)) return rule.bytes;
  }
  return 2;
}

BackendSpec BackendSpec::settled(const Subject& subject, unsigned tp) const {
  BackendSpec out = *this;
  const auto misses = [&](const SchedulerRule& rule) {
    return !subject.matches(rule.when) || (rule.tp != 0 && rule.tp != tp);
  };
  std::erase_if(out.prompts, misses);
  std::erase_if(out.polls, misses);
  std::erase_if(out.budgets, misses);
  std::erase_if(out.decode_batches,
                [&](const DecodeBatchRule& rule) { return !subject.matches(rule.when); });
  if (!out.budgets.empty()) out.token_budget = out.budgets.front().value;
  return out;
}

std::uint32_t BackendSpec::prompts_max(bool drafting, bool aggregated) const {
  if (drafting && draft_prompts > 0) return draft_prompts;
  return aggregated && !prompts.empty() ? prompts.front().value : 0;
}

std::uint32_t BackendSpec::poll_steps(std::uint32_t queries) const {
  for (const SchedulerRule& rule : polls) {
    if (rule.below == 0 || queries < rule.below) return rule.value;
  }
  return 1;
}

std::uint32_t BackendSpec::decode_batch(const DecodeLoad& load) const {
  const auto fits = [&](const DecodeBatchRule& rule) {
    if (!rule.attention.empty() && (rule.attention == "dp") != load.attention_dp) return false;
    return load.queries >= rule.from &&
           (rule.outputs_below == 0 || load.output < rule.outputs_below);
  };
  const auto rule = std::ranges::find_if(decode_batches, fits);
  if (rule == decode_batches.end()) return 0;
  const double most = std::clamp(load.queries, 1.0, double{1} * seqs_max);
  std::uint32_t batch = std::bit_floor(static_cast<std::uint32_t>(most));
  if (load.attention_dp && most >= 1.5 * batch) batch += batch / 2;
  return std::max(rule->at_least, batch);
}

std::vector<ApartRule> BackendSpec::rules_apart(const Subject& subject, WorkerRole role,
                                                bool attention_dp) const {
  std::vector<ApartRule> out;
  for (const ApartRule& rule : apart_rules) {
    const bool other = !rule.attention.empty() && (rule.attention == "dp") != attention_dp;
    if (rule.role == role && !other && subject.matches(rule.when)) out.push_back(rule);
  }
  return out;
}

namespace {

// An item's `when`; if it is missing, the rule always fits.
Subject filter_of(const Json& item, const std::string& where, Fields& top) {
  if (item["when"].is_null()) return {};
  auto parsed = read_filter(item["when"], where);
  if (parsed) return std::move(*parsed);
  top.fail(parsed.error().message);
  return {};
}

std::vector<SchedulerRule> read_rules(Fields& at, const char* key, const char* value) {
  std::vector<SchedulerRule> out;
  for (const Json& item : at.value(key).items()) {
    Fields one(item, at.where(key));
    one.value("when");
    SchedulerRule rule;
    rule.when = filter_of(item, at.where(key), at);
    rule.tp = one.count("tp", 0U);
    rule.below = one.count("below", 0U);
    rule.value = one.count(value);
    if (rule.value == 0) one.fail(format("{}: must be above 0", one.where(value)));
    at.absorb(one);
    out.push_back(std::move(rule));
  }
  return out;
}

std::vector<DecodeBatchRule> read_decode_batches(Fields& at) {
  std::vector<DecodeBatchRule> out;
  for (const Json& item : at.value("decode_batches").items()) {
    Fields one(item, at.where("decode_batches"));
    one.value("when");
    DecodeBatchRule rule;
    rule.when = filter_of(item, at.where("decode_batches"), at);
    rule.attention = one.text("attention", std::string());
    rule.from = one.count("from", 0U);
    rule.outputs_below = one.count("outputs_below", 0U);
    rule.at_least = one.count("at_least");
    if (rule.at_least == 0) one.fail(format("{}: must be above 0", one.where("at_least")));
    at.absorb(one);
    out.push_back(std::move(rule));
  }
  return out;
}

void read_scheduler(Fields& top, BackendSpec& out) {
  Fields at = top.map("scheduler");
  out.policy = at.choice("policy", {"mixed", "prefill_first"}) == 0
                   ? BackendSpec::Policy::mixed
                   : BackendSpec::Policy::prefill_first;
  out.token_budget = at.count("token_budget");
  out.seqs_max = at.count("seqs_max");
  out.block_tokens = at.count("block_tokens");
  out.reserves_output = at.flag("reserves_output");
  out.dp_wait_steps = at.count("dp_wait_steps", 0U);
  out.chunks = at.flag("chunks", true);
  out.prompt_graphs = at.flag("prompt_graphs", false);
  out.draft_prompts = at.count("draft_prompts", 0U);
  out.prompts = read_rules(at, "prompts", "at_most");
  out.budgets = read_rules(at, "token_budgets", "tokens");
  out.polls = read_rules(at, "polls", "steps");
  out.decode_batches = read_decode_batches(at);
  if (out.token_budget == 0 || out.seqs_max == 0 || out.block_tokens == 0) {
    at.fail("token_budget, seqs_max and block_tokens must be above 0");
  }
  top.absorb(at);
}

void read_apart(Fields& top, BackendSpec& out) {
  Fields at = top.map("apart", false);
  out.prefill_ahead = at.flag("prefill_ahead", false);
  out.prefill_draws_ranks = at.flag("prefill_draws_ranks", false);
  for (const Json& item : at.value("rules").items()) {
    Fields one(item, at.where("rules"));
    one.value("when");
    ApartRule rule;
    rule.when = filter_of(item, at.where("rules"), at);
    rule.role =
        one.choice("role", {"prefill", "decode"}) == 0 ? WorkerRole::prefill : WorkerRole::decode;
    rule.attention = one.text("attention", std::string());
    rule.step = one.number("step", 1.0, 0.01);
    auto times = read_factors(one.value("times"), one.where("times"));
    if (times) {
      rule.times = std::move(*times);
    } else {
      one.fail(times.error().message);
    }
    at.absorb(one);
    out.apart_rules.push_back(std::move(rule));
  }
  top.absorb(at);
}

void read_memory(Fields& top, BackendSpec& out) {
  Fields at = top.map("memory");
  out.memory_fraction = at.number("fraction", {}, 0.01);
  out.fraction_of_free = at.choice("of", {"total", "free"}) == 1;
  out.reserve_bytes = at.number("reserve_bytes");
  out.block_overhead = at.number("block_overhead", 0.0);
  top.absorb(at);
}

}  // namespace

Result<BackendSpec> read_backend(const Json& file, const std::string& where) {
  Fields top(file, where);
  top.text("kind");
  BackendSpec out;
  out.name = top.text("name");
  out.title = top.text("title", out.name);
  out.aliases = top.texts("aliases");
  read_scheduler(top, out);
  read_memory(top, out);
  read_apart(top, out);
  for (const Json& item : top.value("kv_cache").items()) {
    Fields at(item, where + ": kv_cache");
    at.value("when");
    KvRule rule{filter_of(item, where + ": kv_cache", top), at.number("bytes", {}, 0.25)};
    top.absorb(at);
    out.kv_rules.push_back(std::move(rule));
  }
  for (const Json& item : top.value("mtp").items()) {
    Fields at(item, where + ": mtp");
    at.value("when");
    MtpRule rule;
    rule.when = filter_of(item, where + ": mtp", top);
    rule.attention = at.text("attention", std::string());
    rule.experts = at.text("experts", std::string());
    rule.drafts = at.count("drafts");
    top.absorb(at);
    out.mtp_rules.push_back(std::move(rule));
  }
  out.send_s = top.number("send_s", 0.0);
  out.handoff_s = top.number("handoff_s", 0.0);
  out.first_token_at_prefill = top.choice("first_token", {"decode", "prefill"}, 0U) == 1;
  Fields sources = top.map("sources");
  for (const char* key : {"scheduler", "memory", "kv_cache"}) sources.text(key);
  sources.text("first_token", std::string());
  sources.text("send", std::string());
  sources.text("handoff", std::string());
  sources.text("apart", std::string());
  sources.text("decode_batches", std::string());
  sources.text("mtp", std::string());
  top.absorb(sources);
  TRY(top.done());
  return out;
}

}  // namespace assay::sim
