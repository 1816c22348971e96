#include "campaign/accuracy.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "audit/loaded_run.h"
#include "base/files.h"
#include "base/format.h"
#include "campaign/artefact_writer.h"
#include "campaign/run_folder.h"
#include "metrics/result_json.h"
#include "metrics/series.h"
#include "metrics/token_counts.h"
#include "record/event_log.h"
#include "score/judged_replies.h"
#include "score/quality_gate.h"
#include "score/reply_rows.h"
#include "score/sample_scores.h"

namespace assay::campaign {
namespace {

std::filesystem::path results_file(const std::filesystem::path& folder) {
  return folder / "accuracy/accuracy_results.json";
}

// A set of replies with one score: a phase's, with those of its tail.
struct Scored {
  std::vector<std::uint16_t> phases{};
  const plan::DatasetConfig* data = nullptr;
  const Dataset* dataset = nullptr;
  const plan::AccuracyConfig& how() const { return *data->accuracy_config; }
};

// A replay's boundary ends the measurement, but every turn that was sent counts for its score.
std::vector<std::uint16_t> with_tail(const std::vector<PhasePlan>& phases, std::size_t at) {
  std::vector<std::uint16_t> out{static_cast<std::uint16_t>(at)};
  while (++at < phases.size() && phases[at].kind == PhaseKind::tail) {
    out.push_back(static_cast<std::uint16_t>(at));
  }
  return out;
}

std::vector<Scored> scored_phases(const plan::Config& config, const plan::PlanBundle& bundle) {
  std::vector<Scored> out;
  for (std::size_t i = 0; i < bundle.plan.phases.size(); ++i) {
    const PhasePlan& phase = bundle.plan.phases[i];
    if (!is_counted(phase.kind)) continue;
    const bool measured = phase.kind == PhaseKind::performance;
    const Dataset& dataset = bundle.datasets[phase.dataset].dataset;
    for (const plan::DatasetConfig& data : config.datasets) {
      if ((data.type == plan::DatasetType::performance) != measured) continue;
      if (!measured && data.name != phase.name) continue;
      if (!data.accuracy_config || data.accuracy_config->eval_method.empty()) continue;
      out.push_back({with_tail(bundle.plan.phases, i), &data, &dataset});
      break;
    }
  }
  return out;
}

// The numbers that the log gives the plan's phases. They are the plan's own in a run of ours; the
// log of another client's run has only phases in which something was asked.
std::vector<std::uint16_t> recorded_phases(const std::vector<std::uint16_t>& planned,
                                           const plan::PlanBundle& bundle, const RunInfo& info) {
  if (info.facts["imported"].is_null()) return planned;
  std::vector<std::uint16_t> out;
  for (const std::uint16_t number : planned) {
    const PhasePlan& phase = bundle.plan.phases[number];
    for (std::size_t i = 0; i < info.phases.size(); ++i) {
      const bool same = info.phases[i].kind == phase.kind &&
                        (phase.kind == PhaseKind::tail || info.phases[i].name == phase.name);
      if (same) out.push_back(static_cast<std::uint16_t>(i));
    }
  }
  return out;
}

Result<std::unique_ptr<score::Scorer>> scorer_of(const Scored& scored, bool allow_code) {
  const plan::AccuracyConfig& how = scored.how();
  const score::ScorerOptions options{
      .extractor = how.extractor,
      .ground_truth = how.ground_truth,
      .subset_column = std::string(how.extras["subset_column"].as_string()),
      .extra = how.extras,
      .allow_code = allow_code || how.extras["allow_code"].as_bool()};
  auto scorer = score::make_scorer(how.eval_method, options);
  if (!scorer) return scorer.error().within(format("dataset '{}'", scored.data->name));
  return scorer;
}

Json lengths_json(const std::vector<std::int64_t>& tokens) {
  metrics::Series series;
  for (const std::int64_t count : tokens) series.add(count);
  return metrics::metric_block(series.finish(false));
}

Json entry_of(const Scored& scored, const score::PhaseScore& score, bool measured) {
  const plan::AccuracyConfig& how = scored.how();
  const std::uint64_t of_pass = scored.dataset->rows_of_pass;
  const std::size_t rows = of_pass > 0 ? of_pass : scored.dataset->rows();
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json entry;
  entry.set("dataset_name", measured ? "performance" : scored.data->name)
      .set("extractor", or_null(how.extractor))
      .set("ground_truth_column", or_null(how.ground_truth))
      .set("score", score.verdict ? score.verdict->score : Json())
      .set("unit_samples", rows)
      .set("num_repeats", measured ? 1 : score.issued / std::max<std::size_t>(rows, 1))
      .set("total_samples", score.issued)
      .set("duration_s", score.duration.seconds())
      .set("complete", score.verdict && score.missing == 0 && score.issued > 0 &&
                           (measured || score.issued == rows * how.num_repeats))
      .set("dataset_type", measured ? "performance" : "accuracy");
  if (score.verdict) {
    if (Json spread = score::uncertainty_json(score.verdict->figures); !spread.is_null()) {
      entry.set("uncertainty", std::move(spread));
    }
  }
  if (score.verdict && !score.verdict->breakdown.is_null()) {
    entry.set("breakdown", score.verdict->breakdown);
  }
  entry.set("response_counts", Json()
                                   .set("issued", score.issued)
                                   .set("scored", score.scored + score.unkept)
                                   .set("empty", score.empty)
                                   .set("missing", score.missing));
  if (!score.tokens.empty()) entry.set("output_sequence_lengths", lengths_json(score.tokens));
  entry.set("scorer", how.eval_method);
  if (const Json& task = how.extras["task"]["task"]; task.is_string()) entry.set("task", task);
  if (score.verdict && !score.verdict->note.empty()) entry.set("note", score.verdict->note);
  if (!score.verdict) entry.set("error", score.verdict.error().message);
  return entry;
}

// What each sample added to each figure, for comparisons in pairs. Subsets and categories are part
// of their score.
void add_sample_scores(const Scored& scored, bool measured, const score::PhaseScore& score,
                       std::vector<score::SampleScores>& out) {
  if (!score.verdict) return;
  for (const score::ScoreFigure& figure : score.verdict->figures) {
    const bool part =
        figure.name.starts_with("subset_scores.") || figure.name.starts_with("category_scores.");
    if (!figure.tally || part) continue;
    out.push_back({.dataset = measured ? "performance" : scored.data->name,
                   .dataset_sha256 = scored.dataset->sha256,
                   .scorer = scored.how().eval_method,
                   .extractor = scored.how().extractor,
                   .ground_truth = scored.how().ground_truth,
                   .figure = figure.name,
                   .tally = *figure.tally});
  }
}

// Writes the reference client's file of a conversation's turns, for its own checker.
Result<void> write_turns(const std::filesystem::path& folder, const Json& results) {
  for (const Json& entry : results["accuracy_scores"].items()) {
    if (entry["scorer"].as_string() != "agentic_inference_inline") continue;
    Json turns = Json().set("score", entry["score"]);
    for (const auto& [key, value] : entry["breakdown"].members()) turns.set(key, value);
    return write_file_atomic(folder / "scores.json", turns.dump(2) + "\n");
  }
  return {};
}

// The mean of the scores that are one number, without performance replies.
Json average(const Json& entries) {
  double sum = 0;
  std::size_t n = 0;
  for (const Json& entry : entries.items()) {
    if (!entry["score"].is_number() || entry["dataset_type"].as_string() == "performance") continue;
    sum += entry["score"].as_double();
    ++n;
  }
  return n == 0 ? Json() : Json(sum / static_cast<double>(n));
}

// Returns the first error if no dataset could be scored.
Result<void> some_verdict(const std::vector<score::PhaseScore>& scores) {
  for (const score::PhaseScore& score : scores) {
    if (score.verdict) return {};
  }
  if (scores.empty()) return {};
  return scores.front().verdict.error();
}

}  // namespace

std::filesystem::path sample_scores_file(const std::filesystem::path& folder) {
  return folder / "accuracy/sample_scores.jsonl";
}

bool wants_scores(const plan::Config& config, const plan::PlanBundle& bundle) {
  return !scored_phases(config, bundle).empty();
}

std::vector<std::string> unscorable(const plan::Config& config, const plan::PlanBundle& bundle,
                                    bool allow_code) {
  std::vector<std::string> out;
  for (const Scored& scored : scored_phases(config, bundle)) {
    const auto scorer = scorer_of(scored, allow_code);
    if (scorer) continue;
    out.push_back(format("{}: it will not be scored; its replies are kept for `assay score`",
                         scorer.error().message));
  }
  return out;
}

Result<Json> score_run(const std::filesystem::path& folder, const plan::Config& config,
                       const plan::PlanBundle& bundle, bool allow_code, IfNone if_none,
                       std::string* verdicts) {
  std::optional<metrics::TokenCounts> counts;
  std::error_code ignored;
  if (std::filesystem::exists(token_counts_file(folder), ignored)) {
    ASSIGN_OR_RETURN(counts, metrics::TokenCounts::read(token_counts_file(folder)));
  }
  const auto tokens_of = [&counts](const Event& event) -> std::int64_t {
    if (!counts) return event.usage.completion_tokens;
    const metrics::TokenCount* const count = counts->find(event.query);
    return count == nullptr ? -1 : count->output;
  };
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  const std::vector<Scored> phases = scored_phases(config, bundle);
  std::vector<score::JudgedReplies> judged(phases.size());
  ASSIGN_OR_RETURN(const ArtefactsOf artefacts, read_artefacts(folder));
  const auto on_judged = [&](std::size_t set, const score::Row& row, Json record) {
    judged[set].add(row, record);
    if (verdicts == nullptr) return;
    *verdicts += record.set("dataset", phases[set].dataset->name).dump() + '\n';
  };
  score::ReplyRows rows(tokens_of, on_judged, [&](const Query& query) {
    const auto found = artefacts.find({query.phase, query.index});
    return found == artefacts.end() ? Json() : found->second;
  });
  for (const Scored& scored : phases) {
    rows.add_phases(recorded_phases(scored.phases, bundle, info), *scored.dataset,
                    scorer_of(scored, allow_code));
  }
  ASSIGN_OR_RETURN(const auto replay, record::replay_run(log_folder(folder), rows));
  const std::vector<score::PhaseScore> scores = rows.finish();
  if (if_none == IfNone::refuse) TRY(some_verdict(scores));
  Json entries = Json::array();
  Json shown = Json::array();
  std::vector<score::SampleScores> of_samples;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool measured =
        bundle.plan.phases[phases[i].phases.front()].kind == PhaseKind::performance;
    entries.push_back(entry_of(phases[i], scores[i], measured));
    add_sample_scores(phases[i], measured, scores[i], of_samples);
    Json of_set = judged[i].finish(measured ? "performance" : phases[i].data->name,
                                   phases[i].how().eval_method);
    if (scores[i].verdict && !of_set.is_null()) shown.push_back(std::move(of_set));
  }
  Json out;
  if (const Json mean = average(entries); !mean.is_null()) out.set("average_accuracy", mean);
  if (counts) out.set("osl_tokenization_s", counts->source["seconds"]);
  out.set("accuracy_scores", std::move(entries));
  if (Json gate = score::quality_gate(out, info.facts["workload"]); !gate.is_null()) {
    out.set("quality", std::move(gate));
  }
  TRY(write_turns(folder, out));
  TRY(write_file_atomic(results_file(folder), out.dump(2) + "\n"));
  TRY(write_file_atomic(sample_scores_file(folder), score::sample_scores_text(of_samples)));
  TRY(write_file_atomic(audit::judged_replies_file(folder), shown.dump() + "\n"));
  return out;
}

bool accuracy_is_short(const Json& results) { return !score::gate_is_passed(results["quality"]); }

std::string accuracy_trouble(const Json& results) {
  for (const Json& entry : results["accuracy_scores"].items()) {
    if (!entry["error"].is_string()) continue;
    return format("accuracy of '{}': {}", entry["dataset_name"].as_string(),
                  entry["error"].as_string());
  }
  return {};
}

}  // namespace assay::campaign
