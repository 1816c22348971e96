// plan_digest: one line of text for each decision, hashed in order. The lines are Assay's own
// format; a change of them changes every digest, so the changelog must name it.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/hash.h"
#include "plan/make_plan.h"
#include "plan/saved_config.h"

namespace assay::plan {
namespace {

// The first draws show the seeds of order and salts; all later draws follow from these.
constexpr std::uint64_t kDraws = 4096;

// Joins many short texts to few long ones for the hash: a dataset has a dozen a row.
class Lines {
 public:
  void add(std::string_view text) {
    gathered_ += text;
    if (gathered_.size() < kMost) return;
    hash_.add(gathered_);
    gathered_.clear();
  }
  std::string finish() {
    hash_.add(gathered_);
    return hash_.finish();
  }

 private:
  static constexpr std::size_t kMost = std::size_t{64} << 10;
  Sha256 hash_{};
  std::string gathered_{};
};

// Adds the length of every text, so that no two lists of texts look the same.
void add(Lines& hash, std::string_view name, std::string_view value) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value.size()).ptr;
  hash.add(name);
  hash.add(" ");
  hash.add({digits.data(), end});
  hash.add(":");
  hash.add(value);
  hash.add("\n");
}
void add_json(Lines& hash, std::string_view name, const Json& value) {
  value.is_null() ? add(hash, name, "null") : add(hash, name, value.dump());
}

template <typename T>
void add_optional(Lines& hash, std::string_view name, const std::optional<T>& value) {
  if (value) add_json(hash, name, Json(*value));
}

void add_generation(Lines& hash, const Generation& from) {
  add(hash, "model", from.model);
  add_json(hash, "stream", Json(from.stream));
  add_optional(hash, "temperature", from.temperature);
  add_optional(hash, "seed", from.seed);
  add_optional(hash, "top_k", from.top_k);
  add_optional(hash, "top_p", from.top_p);
  add_optional(hash, "repetition_penalty", from.repetition_penalty);
  add_optional(hash, "presence_penalty", from.presence_penalty);
  add_optional(hash, "frequency_penalty", from.frequency_penalty);
  add_json(hash, "max_new_tokens", Json(from.max_new_tokens));
  if (!from.limit_field.empty()) add(hash, "limit_field", from.limit_field);
  add_json(hash, "min_new_tokens", Json(from.min_new_tokens));
  add_json(hash, "skip_special_tokens", Json(from.skip_special_tokens));
  add_json(hash, "include_usage", Json(from.include_usage));
  add_optional(hash, "ignore_eos", from.ignore_eos);
  add_json(hash, "chat_template_kwargs", from.chat_template_kwargs);
  add_json(hash, "extra_body", from.extra_body);
}

void add_sample(Lines& hash, const Sample& sample) {
  add(hash, "prompt", sample.prompt);
  add(hash, "system", sample.system);
  add_json(hash, "messages", sample.messages.json());
  const auto* ids = reinterpret_cast<const char*>(sample.input_tokens.data());
  add(hash, "input_tokens",
      std::string_view(ids, sample.input_tokens.size() * sizeof(std::int32_t)));
  add_json(hash, "content_parts", sample.content_parts);
  add_json(hash, "tools", sample.tools);
  add_json(hash, "tool_choice", sample.tool_choice);
  add_json(hash, "body", sample.body);
  add_json(hash, "output_tokens_max", Json(sample.output_tokens_max));
  add(hash, "session", sample.session);
  if (!sample.overrides.is_null()) add_json(hash, "overrides", sample.overrides);
  if (sample.made.tokens > 0) {
    const MadePrompt& made = sample.made;
    add(hash, "made", format("{} {} {} {}", made.tokens, made.block, made.scope, made.rest));
    const auto* blocks = reinterpret_cast<const char*>(made.ids->data());
    add(hash, "blocks", std::string_view(blocks, made.ids->size() * sizeof(std::uint64_t)));
  }
  if (sample.salt_position >= 0) add_json(hash, "salt_position", Json(sample.salt_position));
}

void add_phase(Lines& hash, const PhasePlan& phase, std::uint16_t index) {
  add(hash, "phase", to_string(phase.kind));
  add(hash, "name", phase.name);
  add_json(hash, "dataset", Json(phase.dataset));
  add_json(hash, "open_loop", Json(phase.open_loop));
  const auto* arrivals = reinterpret_cast<const char*>(phase.arrivals.data());
  add(hash, "arrivals", std::string_view(arrivals, phase.arrivals.size() * sizeof(Duration)));
  for (const LimitStep& step : phase.limits) {
    add(hash, "limit", format("{} {}", step.at.ns, step.in_flight_max));
  }
  const StopRule& stop = phase.stop;
  add(hash, "stop",
      format("{} {} {} {} {} {} {}", stop.queries_min, stop.queries_max, stop.pass,
             stop.duration_min.ns, stop.duration_max.ns, stop.drain_max.ns, stop.idle_max.ns));
  for (const UserLoop& loop : phase.loops) {
    const auto* rows = reinterpret_cast<const char*>(loop.rows.data());
    add(hash, "users", format("{} {}", loop.users, loop.think.ns));
    add(hash, "rows", std::string_view(rows, loop.rows.size() * sizeof(std::uint32_t)));
  }
  for (const Conversation& one : phase.conversations) {
    for (const Turn& turn : one.turns) {
      add(hash, "turn", format("{} {}", turn.sample, turn.delay.ns));
    }
    for (const std::vector<std::uint32_t>& after : one.after) {
      const auto* turns = reinterpret_cast<const char*>(after.data());
      add(hash, "after", std::string_view(turns, after.size() * sizeof(std::uint32_t)));
    }
    add(hash, "conversation", "ended");
  }
  if (phase.begin_max != Duration::max()) add_json(hash, "begin_max", Json(phase.begin_max.ns));
  for (const std::uint32_t barrier : phase.barriers) add_json(hash, "barrier", Json(barrier));
  add_json(hash, "drain", Json(phase.drain));
  add_json(hash, "salted", Json(phase.salted));
  QueryStream queries(phase, index, 0, 1);
  for (std::uint64_t i = 0; i < std::min(kDraws, stop.queries_max); ++i) {
    const Query query = queries.next();
    hash.add(format("{} {:016x}\n", query.sample, query.salt));
  }
}

// Adds only the user's choices: a run without any keeps its digest from before they existed.
void add_guard(Lines& hash, const GuardRule& guard) {
  const GuardRule none;
  if (guard.failures_max != none.failures_max) {
    add_json(hash, "failures_max", Json(guard.failures_max));
  }
  if (guard.failed_share_max != none.failed_share_max) {
    add_json(hash, "failed_share_max", Json(guard.failed_share_max));
  }
  if (guard.tokens_max != none.tokens_max) add_json(hash, "tokens_max", Json(guard.tokens_max));
  if (guard.cost_max != none.cost_max) {
    add(hash, "cost_max", format("{} {} {}", guard.cost_max, guard.price_in, guard.price_out));
  }
  if (guard.honour_retry_after) add_json(hash, "honour_retry_after", Json(true));
}

void add_endpoints(Lines& hash, const Endpoints& endpoints) {
  for (const std::string& url : endpoints.urls) add(hash, "url", redact_url(url));
  add(hash, "api", to_string(endpoints.api));
  if (endpoints.described) add(hash, "kind", endpoints.described->source.dump());
  // Names only: a value may be a secret, and a short secret can be found from its hash.
  for (const auto& [name, value] : endpoints.headers) add(hash, "header", name);
  for (const std::string& name : endpoints.session_headers) add(hash, "session_header", name);
  add_json(hash, "request_ids", Json(endpoints.request_ids));
  add_json(hash, "insecure", Json(endpoints.insecure));
  add_json(hash, "http", Json(static_cast<int>(endpoints.http)));
  add_json(hash, "connections_max", Json(endpoints.connections_max));
  add_json(hash, "connect_timeout", Json(endpoints.connect_timeout.ns));
  add_json(hash, "query_timeout", Json(endpoints.query_timeout.ns));
  add_json(hash, "idle_connection_max", Json(endpoints.idle_connection_max.ns));
  if (is_job(endpoints.api)) {
    add_json(hash, "poll_interval", Json(endpoints.poll_interval.ns));
    add_json(hash, "fetch_artefacts", Json(endpoints.fetch_artefacts));
  }
}

}  // namespace

std::string plan_digest(const PlanBundle& bundle) {
  Lines hash;
  hash.add("assay plan 1\n");
  add_endpoints(hash, bundle.endpoints);
  add_json(hash, "run_max", Json(bundle.run_max.ns));
  add_json(hash, "keep_text", Json(bundle.keep_text));
  for (const PlannedDataset& planned : bundle.datasets) {
    add(hash, "dataset", planned.dataset.name);
    add_generation(hash, planned.generation);
    add_json(hash, "rows", Json(planned.dataset.rows()));
    // The recipe stands for all made rows.
    if (planned.dataset.make_row) add(hash, "recipe", planned.dataset.recipe);
    for (const Sample& sample : planned.dataset.samples) add_sample(hash, sample);
  }
  for (std::size_t i = 0; i < bundle.plan.phases.size(); ++i) {
    add_phase(hash, bundle.plan.phases[i], static_cast<std::uint16_t>(i));
  }
  add_guard(hash, bundle.plan.guard);
  return hash.finish();
}

}  // namespace assay::plan
