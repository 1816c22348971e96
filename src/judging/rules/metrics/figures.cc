#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

// Reports an error when the summary's figure at `pointer` differs from the derived one by more than
// the edition's relative tolerance. Ignores missing values: other rules report them.
void check_stored(const Scope& at, Out& out, std::string_view pointer,
                  std::optional<double> derived) {
  const Document& from = at.point->metadata.absent() ? at.point->summary : at.point->metadata;
  const Json& stored = from.at(pointer);
  if (!stored.is_number() || !derived) return out.not_applicable();
  constexpr double kFloor = 1e-9;
  const double off =
      std::fabs(stored.as_double() - *derived) / std::max(std::fabs(*derived), kFloor);
  const double tolerance = at.tree.edition.metric_tolerance;
  if (off <= tolerance) return;
  out.error(from.place(pointer), format("{} is {}", spoken(pointer), stored.dump()),
            format("{:.4g}, give or take {} %", *derived, tolerance * 100));
}

void check_result_file_valid(const Scope& at, Out& out) {
  if (at.point->summary.absent()) return out.not_applicable();
  if (at.point->summary.broken())
    out.error(at.point->summary.place(), at.point->summary.trouble(), "valid JSON");
  out.issues(at.point->summary, at.point->summary_issues);
}

void check_metric_consistency_duration(const Scope& at, Out& out) {
  const double duration = at.point->metrics.duration_ns.value_or(0);
  if (duration <= 0)
    out.error(at.point->summary.place("/duration_ns"), format("duration_ns is {}", duration),
              "above 0");
}

void check_metric_consistency_accounting(const Scope& at, Out& out) {
  const Metrics& m = at.point->metrics;
  const std::int64_t issued = m.issued.value_or(0);
  const std::int64_t ended = m.completed.value_or(0) + m.failed.value_or(0);
  if (issued > 0 && ended != issued) {
    out.error(at.point->summary.place("/n_samples_issued"),
              format("{} issued, {} completed, {} failed", issued, m.completed.value_or(0),
                     m.failed.value_or(0)),
              "as many ended as were issued");
  }
}

void check_metric_consistency_output_tokens(const Scope& at, Out& out) {
  if (!at.point->metrics.unit.empty()) return out.not_applicable();
  const auto total = at.point->metrics.output_tokens;
  const std::string_view pointer = "/output_sequence_lengths/total";
  if (!total) {
    out.error(at.point->summary.place(pointer), "no output_sequence_lengths.total",
              "the run's output tokens");
  } else if (*total < 0) {
    out.error(at.point->summary.place(pointer), format("{} output tokens", *total), "0 or more");
  }
}

void check_metric_consistency_system_tps(const Scope& at, Out& out) {
  check_stored(at, out, "/system_tps", at.point->metrics.system_tps);
}

void check_metric_consistency_tps_per_user(const Scope& at, Out& out) {
  if (at.point->dedicated()) return out.not_applicable();
  check_stored(at, out, "/tps_per_user", at.point->metrics.tps_per_user);
}

// Replies without tokens: what stands in the place of tokens and TPOT.
void check_metric_consistency_units(const Scope& at, Out& out) {
  const Metrics& m = at.point->metrics;
  if (m.unit.empty()) return out.not_applicable();
  if (!m.units || *m.units < 0) {
    out.error(at.point->summary.place("/assay/units/completed"),
              m.units ? format("{} {}s", *m.units, m.unit) : "no assay.units.completed",
              "0 or more");
  }
  check_stored(at, out, "/assay/units/per_second", m.units_per_s);
  if (!m.latency_p90_ns || !std::isfinite(*m.latency_p90_ns) || *m.latency_p90_ns <= 0) {
    out.error(
        at.point->summary.place("/latency/percentiles"),
        m.latency_p90_ns ? format("latency P90 is {} ns", *m.latency_p90_ns) : "no latency P90",
        "above 0, under the key \"90.0\"");
  }
}

void check_metric_consistency_tpot_p90(const Scope& at, Out& out) {
  if (at.point->dedicated() || !at.point->metrics.unit.empty()) return out.not_applicable();
  const auto tpot = at.point->metrics.tpot_p90_ns;
  if (!tpot || !std::isfinite(*tpot) || *tpot <= 0) {
    out.error(at.point->summary.place("/tpot/percentiles"),
              tpot ? format("TPOT P90 is {} ns", *tpot) : "no TPOT P90",
              "above 0, under the key \"90.0\"");
  }
}

void check_metric_consistency_tps_per_kw(const Scope& at, Out& out) {
  const auto& power = at.system->power;
  if (!power || !power->good() || !at.point->metrics.system_tps) return out.not_applicable();
  std::vector<rulebook::NodesUsed> used;
  for (const Json& part : at.point->point.at("/nodes_used").items()) {
    const auto id = parse_int(part["system_node_ensemble_id"].as_string());
    used.push_back({part["system_node_ensemble_id"].as_int(id ? *id : -1), part["nodes"].as_int()});
  }
  const double kilowatts = rulebook::point_power_kw(*power, used);
  if (kilowatts <= 0) return out.not_applicable();
  check_stored(at, out, "/system_tps_per_kw", *at.point->metrics.system_tps / kilowatts);
}

void check_agentic_metric_consistency(const Scope& at, Out& out) {
  const bool stored = !at.point->summary.at("/e2e_avg_interactivity").is_null();
  if (!at.point->metrics.interactivity) {
    // A single-turn run need not have it, but what it states must follow from something.
    if (!stored && !at.curve->agentic) return out.not_applicable();
    out.error(at.point->summary.place(stored ? "/e2e_avg_interactivity" : ""),
              "e2e_avg_interactivity can't be derived",
              "output_tokens_per_turn_total and e2e_turn_time_seconds_total");
    return;
  }
  check_stored(at, out, "/e2e_avg_interactivity", at.point->metrics.interactivity);
}

// A share of replies that is too small to change a figure.
constexpr double kShareMost = 0.01;

void judge(const Scope& at, Out& out, std::string_view pointer, std::string_view what,
           std::string_view expected) {
  const Document& summary = at.point->summary;
  const std::int64_t replies = summary.at(pointer).as_int();
  if (replies <= 0) return;
  const std::int64_t completed = at.point->metrics.completed.value_or(0);
  std::string found =
      format("{} of {} replies {}", with_thousands(replies), with_thousands(completed), what);
  if (static_cast<double>(replies) > kShareMost * static_cast<double>(completed)) {
    out.error(summary.place(pointer), std::move(found), std::string(expected));
  } else {
    out.warning(summary.place(pointer), std::move(found), std::string(expected));
  }
}

// Checks our own client's comparison of each reply's token count with the reply.
void check_token_evidence(const Scope& at, Out& out) {
  const Json& tokens = at.point->summary.at("/assay/tokens");
  if (!tokens["contradicted"].is_object()) return out.not_applicable();
  judge(at, out, "/assay/tokens/contradicted/replies",
        format("have a token count of the server's that the reply contradicts: it says {} tokens "
               "where {} are counted",
               with_thousands(tokens["contradicted"]["said"].as_int()),
               with_thousands(tokens["contradicted"]["counted"].as_int())),
        "counts within the limit that was asked for and the bytes of each reply");
  judge(at, out, "/assay/tokens/empty_replies", "held nothing at all",
        "text, reasoning or a tool call in each reply");
}

constexpr Rule kMetricRules[] = {
    {.id = "result-file-valid",
     .action = Action::reject_submission,
     .clause = "§8.3: Metric consistency",
     .demand = "result_summary.json is valid, each figure in its kind",
     .fix = "copy the file from the run folder as it is",
     .check = check_result_file_valid},
    {.id = "metric-consistency-duration",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "duration_ns is above 0",
     .fix = "measure the point again",
     .check = check_metric_consistency_duration},
    {.id = "metric-consistency-accounting",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "issued = completed + failed",
     .fix = "never retry silently: every query ends as completed or as failed",
     .check = check_metric_consistency_accounting},
    {.id = "metric-consistency-output-tokens",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "the output tokens are there and not negative",
     .fix = "count them with the reference tokenizer",
     .check = check_metric_consistency_output_tokens},
    {.id = "metric-consistency-system-tps",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "system_tps is output tokens over seconds",
     .fix = "write what follows from the file's own totals",
     .check = check_metric_consistency_system_tps},
    {.id = "metric-consistency-tps-per-user",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "tps_per_user is 1000 over TPOT P90 in ms",
     .fix = "write what follows from tpot.percentiles[\"90.0\"]",
     .check = check_metric_consistency_tps_per_user},
    {.id = "metric-consistency-units",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "where replies are not tokens, units and latency P90 are there and agree",
     .fix = "copy the summary of the run folder as it is",
     .check = check_metric_consistency_units},
    {.id = "metric-consistency-tpot-p90",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "TPOT P90 is there and above 0",
     .fix = "measure with streaming on; Offline alone does without",
     .check = check_metric_consistency_tpot_p90},
    {.id = "metric-consistency-tps-per-kw",
     .needs = Needs::measured_point,
     .action = Action::reject_submission,
     .clause = "§4.5.3: Per-point denominator",
     .demand = "system_tps_per_kw is system_tps over the point's provisioned power",
     .fix = "write what follows from system_power.json and nodes_used",
     .check = check_metric_consistency_tps_per_kw},
    {.id = "agentic-metric-consistency",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§4.1: Agentic metric consistency",
     .demand = "a stated e2e_avg_interactivity follows from the turns' tokens and seconds",
     .fix = "record output_tokens_per_turn_total and e2e_turn_time_seconds_total",
     .check = check_agentic_metric_consistency},
    {.id = "token-evidence",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§9.1: Metric consistency",
     .demand = "the token counts that figures rest on fit the replies",
     .fix = "mend what the server reports as usage, or count the text with --tokenizer, and "
            "measure again",
     .check = check_token_evidence},
};

}  // namespace

std::span<const Rule> metric_rules() { return kMetricRules; }

}  // namespace assay::rules
