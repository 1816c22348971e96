// BackendSpec: how a serving engine schedules and what it keeps in memory. Files:
// catalogue/backends/*.yaml.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sim/constants.h"

namespace assay::sim {

// The rule depends on the model and its format, never on the card: otherwise a comparison of two
// cards would compare two formats.
struct KvRule {
  Subject when{};
  double bytes = 2;  // of one element
};

// A scheduler's number that depends on the model and on the number of queries under way.
struct SchedulerRule {
  Subject when{};
  unsigned tp = 0;          // only at this tensor parallelism; 0: any
  std::uint32_t below = 0;  // only with fewer queries in the worker; 0: any number
  std::uint32_t value = 0;
};

// The least batch of a recipe's disaggregated decode ranks.
struct DecodeBatchRule {
  Subject when{};
  std::string attention{};          // "dp", "tp": as in MtpRule
  std::uint32_t from = 0;           // only from this many queries a rank
  std::uint32_t outputs_below = 0;  // only with shorter outputs, in the mean; 0: any
  std::uint32_t at_least = 0;
};

// What a recipe's decode ranks were built for.
struct DecodeLoad {
  double queries = 0;  // of one rank
  double output = 0;   // tokens, in the mean
  bool attention_dp = false;
};

// The draft count of the measured recipes of aggregated workers, if the user gives none.
struct MtpRule {
  Subject when{};
  std::string attention{};  // "dp": only with attention data parallelism; "tp": only without
  std::string experts{};    // "ep": only with expert parallelism; "tp": only without
  unsigned drafts = 0;
};

// What each worker does: prompts and decoding, or one of the two.
enum class WorkerRole : std::uint8_t { both, prefill, decode };

// How workers of one role differ from aggregated ones, to which the constants were fitted: other
// kernels, other settings. Rules that fit all apply.
struct ApartRule {
  Subject when{};
  WorkerRole role = WorkerRole::prefill;
  std::string attention{};  // "dp", "tp": as in MtpRule
  double step = 1;          // all of a step takes this many times as long
  std::vector<std::pair<double StepConstants::*, double>> times{};
};

struct BackendSpec {
  enum class Policy : std::uint8_t { mixed, prefill_first };

  std::string name{};
  std::string title{};
  std::vector<std::string> aliases{};
  Policy policy = Policy::mixed;
  std::uint32_t token_budget = 8192;  // of one step, each attention rank
  std::uint32_t seqs_max = 1024;      // running, each attention rank
  std::uint32_t block_tokens = 16;
  std::uint32_t dp_wait_steps = 0;  // attention DP: how long prompts wait for one on each rank
  bool chunks = true;               // prompts may be cut; else each is computed in one step
  bool prompt_graphs = false;       // steps with prompts run as graphs too, not kernel by kernel
  std::uint32_t draft_prompts = 0;  // most prompts of one step, when drafting; 0: any number
  // The same without drafts, of aggregated workers: the first that fits; else any number.
  std::vector<SchedulerRule> prompts{};
  // Decode steps between two checks for arrivals: the first rule that fits; else 1.
  std::vector<SchedulerRule> polls{};
  std::vector<SchedulerRule> budgets{};  // instead of token_budget, the first that fits
  // Disaggregated, sequences of one decode rank: the power of two that the load fills, with
  // attention DP also one and a half times it, and at least the value of the first rule that fits;
  // without any rule: seqs_max.
  std::vector<DecodeBatchRule> decode_batches{};
  bool reserves_output = false;  // admission takes prompt and output: no preemption
  double memory_fraction = 0.9;
  bool fraction_of_free = false;  // of the memory that the weights leave, not of the card
  double reserve_bytes = 5e9;
  double block_overhead = 0;
  std::vector<KvRule> kv_rules{};
  std::vector<MtpRule> mtp_rules{};
  bool first_token_at_prefill = false;  // disaggregated: which worker sends token 1
  double send_s = 0;     // disaggregated: added to a prefill step for each prompt that leaves
  double handoff_s = 0;  // disaggregated: from KV moved to waiting on the decode worker
  // Prefill workers: a step is made up while the one before it runs, so that what arrives meanwhile
  // misses it; and the rank of a prompt is drawn, whatever the ranks have to do.
  bool prefill_ahead = false;
  bool prefill_draws_ranks = false;
  std::vector<ApartRule> apart_rules{};

  double kv_bytes(const Subject& subject) const;
  // The same backend with only the rules that apply to this worker, and its token budget.
  BackendSpec settled(const Subject& subject, unsigned tp) const;
  // Most prompts of one step; 0: any number.
  std::uint32_t prompts_max(bool drafting, bool aggregated) const;
  std::uint32_t poll_steps(std::uint32_t queries) const;
  // 0: no rule applies.
  std::uint32_t decode_batch(const DecodeLoad& load) const;
  // The rules of such a worker.
  std::vector<ApartRule> rules_apart(const Subject& subject, WorkerRole role,
                                     bool attention_dp) const;
};

Result<BackendSpec> read_backend(const Json& file, const std::string& where);

}  // namespace assay::sim
