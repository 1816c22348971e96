#include "score/quality_gate.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/format.h"
#include "base/text.h"

namespace assay::score {
namespace {

// Where a scorer's entry has the metric: a member of its score, or the score itself ("").
struct Figure {
  std::string_view metric{};
  std::string_view scorer{};  // "": any
  std::string_view member{};
  double scale = 1;
};

constexpr std::string_view kLengths = "output_sequence_lengths";

constexpr std::array<Figure, 52> kFigures = {{
    {"rouge1", "rouge", "rouge1"},
    {"rouge2", "rouge", "rouge2"},
    {"rougeL", "rouge", "rougeL"},
    {"rougeLsum", "rouge", "rougeLsum"},
    {"gen_len", "rouge", "gen_len"},
    {"tokens_per_sample", "rouge", "tokens_per_sample"},
    {"rouge1", "mixtral_8x7b", "rouge1"},
    {"rouge2", "mixtral_8x7b", "rouge2"},
    {"rougeL", "mixtral_8x7b", "rougeL"},
    {"gsm8k", "mixtral_8x7b", "gsm8k"},
    {"mbxp", "mixtral_8x7b", "mbxp"},
    {"tokens_per_sample", "mixtral_8x7b", "tokens_per_sample"},
    {"rougeL", "llama3_1_405b", "rougeL"},
    {"exact_match", "llama3_1_405b", "exact_match"},
    {"tokens_per_sample", "llama3_1_405b", "tokens_per_sample"},
    {"exact_match", "legacy_mlperf_deepseek_r1", ""},
    {"exact_match", "deepseek_r1", ""},
    {"exact_match", "gpt_oss", ""},
    {"exact_match", "pass_at_1", "", 100},
    {"exact_match", "code_bench_scorer", "", 100},
    {"exact_match", "aime", "", 100},
    {"exact_match", "gpqa", "", 100},
    {"category_f1", "shopify_category_f1", ""},
    {"f1", "squad_f1", "f1"},
    {"coco_map", "coco_map", "mAP"},
    {"mean_dice", "dice", "mean_dice"},
    {"top1", "top1", ""},
    {"top1", "top_1", ""},
    {"auc_percent", "dlrm_v2", "auc_percent"},
    {"waymo_map", "waymo_map", "waymo_map"},
    {"rag_accuracy", "rag_db", "rag_accuracy"},
    {"rag_accuracy", "rag_qna", "rag_accuracy"},
    {"normalised_entropy", "dlrm_v3", "normalised_entropy"},
    {"accuracy", "dlrm_v3", "accuracy"},
    // The suite's AUC is the mean of the requests' own.
    {"auc", "dlrm_v3", "gauc"},
    {"normalised_entropy", "dlrm", "normalised_entropy"},
    {"accuracy", "dlrm", "accuracy"},
    {"auc", "dlrm", "gauc"},
    {"word_accuracy", "whisper", "word_accuracy"},
    {"vbench_score", "vbench", "vbench_score"},
    {"vbench_score", "vbench", "", 100},
    {"clip_score", "sdxl", "clip_score"},
    {"fid_score", "sdxl", "fid_score"},
    {"agentic_inference_inline", "agentic_inference_inline", "", 100},
    {"swe_bench", "swe_bench_scorer", "", 100},
    {"overall_accuracy", "bfcl_v4", "", 100},
    {"normalized_single_turn_score", "bfcl_v4", "normalized_single_turn_score"},
    {"tokens_per_sample", "legacy_mlperf_deepseek_r1", "tokens_per_sample"},
    {"tokens_per_sample", "deepseek_r1", "tokens_per_sample"},
    {"tokens_per_sample", "", kLengths},
    {"tokens_total", "", kLengths},
    {"output_tokens_per_turn_mean", "", kLengths},
}};

std::optional<double> demanded_number(const Json& value) {
  if (value.is_number()) return value.as_double();
  if (!value.is_string()) return std::nullopt;
  const auto parsed = parse_double(value.as_string());
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::optional<double> value_in(const Figure& figure, const Json& entry) {
  if (figure.member == kLengths) {
    return demanded_number(entry[kLengths][figure.metric == "tokens_total" ? "total" : "avg"]);
  }
  const Json& score = entry["score"];
  const auto said =
      figure.member.empty() ? demanded_number(score) : demanded_number(score[figure.member]);
  const auto broken_down =
      figure.member.empty() ? said : demanded_number(entry["breakdown"][figure.member]);
  const auto found = said ? said : broken_down;
  return found ? std::optional(*found * figure.scale) : std::nullopt;
}

// Replies of the measured phase count if only they were scored, or the metric is per turn.
bool counts(const Json& results, const Json& entry, std::string_view metric) {
  const bool measured = entry["dataset_type"].as_string() == "performance";
  if (metric == "output_tokens_per_turn_mean") return measured;
  if (!measured) return true;
  return std::all_of(
      results["accuracy_scores"].items().begin(), results["accuracy_scores"].items().end(),
      [](const Json& one) { return one["dataset_type"].as_string() == "performance"; });
}

std::optional<double> entry_value(const Json& entry, std::string_view metric) {
  for (const Figure& figure : kFigures) {
    if (figure.metric != metric) continue;
    if (!figure.scorer.empty() && figure.scorer != entry["scorer"].as_string()) continue;
    if (const auto found = value_in(figure, entry)) return found;
  }
  return std::nullopt;
}

std::string_view judge_demand(const Json& demand, const Json& value) {
  if (value.is_null()) return "not_measured";
  const double have = value.as_double();
  const bool enough = !demand["at_least"].is_number() || have >= demand["at_least"].as_double();
  const bool little = !demand["at_most"].is_number() || have <= demand["at_most"].as_double();
  return enough && little ? "passed" : "failed";
}

std::string_view worse(std::string_view a, std::string_view b) {
  if (a == "failed" || b == "failed") return "failed";
  return a == "not_measured" || b == "not_measured" ? "not_measured" : "passed";
}

// Demands without a target always apply; with several targets, one target's demands are enough.
std::string_view verdict_of(const Json& items) {
  std::string_view common = "passed";
  std::map<std::string_view, std::string_view> targets;
  for (const Json& item : items.items()) {
    const std::string_view own = item["verdict"].as_string();
    if (item["of"].is_string()) {
      const auto [at, fresh] = targets.try_emplace(item["of"].as_string(), "passed");
      at->second = worse(at->second, own);
    } else {
      common = worse(common, own);
    }
  }
  std::string_view best = targets.empty() ? "passed" : "failed";
  for (const auto& [name, verdict] : targets) {
    if (verdict == "passed" || (verdict == "not_measured" && best == "failed")) best = verdict;
  }
  return worse(common, best);
}

// Lists why the scores may not be those of the whole dataset.
Json gaps(const Json& results, const Json& workload) {
  Json notes = Json::array();
  for (const Json& entry : results["accuracy_scores"].items()) {
    const std::string name(entry["dataset_name"].as_string());
    if (!entry["complete"].as_bool()) notes.push_back(format("{}: not every reply is there", name));
    const std::string id = name.substr(0, name.find("::"));
    const std::uint64_t wanted = workload["rows"][id].as_uint(0);
    const std::uint64_t have = entry["unit_samples"].as_uint(0);
    if (wanted > 0 && have != wanted) {
      notes.push_back(format("{}: {} rows, the workload has {}", name,
                             with_thousands(static_cast<std::int64_t>(have)),
                             with_thousands(static_cast<std::int64_t>(wanted))));
    }
  }
  return notes;
}

}  // namespace

std::vector<std::string_view> scorers_of_metric(std::string_view metric) {
  std::vector<std::string_view> out;
  for (const Figure& figure : kFigures) {
    if (figure.metric == metric) out.push_back(figure.scorer);
  }
  return out;
}

Json metric_value(const Json& results, std::string_view metric) {
  const bool total = metric == "tokens_total" || metric == "gen_len";
  double sum = 0;
  double weight = 0;
  for (const Json& entry : results["accuracy_scores"].items()) {
    if (!counts(results, entry, metric)) continue;
    const auto value = entry_value(entry, metric);
    if (!value) continue;
    // A mean length counts replies, so it counts a sample once for each time it was asked.
    const Json& replies = entry["total_samples"];
    const double rows = entry["unit_samples"].as_double(1);
    const double samples = total                           ? 1
                           : metric == "tokens_per_sample" ? replies.as_double(rows)
                                                           : rows;
    sum += *value * samples;
    weight += samples;
  }
  if (weight == 0) return {};
  return Json(total ? sum : sum / weight);
}

Json quality_gate(const Json& results, const Json& workload) {
  if (workload["quality"].size() == 0) return {};
  Json items = Json::array();
  for (const Json& demand : workload["quality"].items()) {
    const Json value = metric_value(results, demand["metric"].as_string());
    Json item = Json().set("metric", demand["metric"]);
    for (const char* key : {"of", "reference", "at_least", "at_most"}) {
      if (demand.find(key) != nullptr) item.set(key, demand[key]);
    }
    items.push_back(
        std::move(item.set("value", value).set("verdict", judge_demand(demand, value))));
  }
  const std::string_view verdict = verdict_of(items);
  Json notes = gaps(results, workload);
  const bool complete = notes.size() == 0;
  return Json()
      .set("workload", workload["name"])
      .set("edition", workload["edition"])
      .set("scenario", workload["scenario"])
      .set("verdict", verdict)
      .set("complete", complete)
      .set("items", std::move(items))
      .set("notes", std::move(notes));
}

bool gate_is_passed(const Json& gate) {
  return gate["verdict"].as_string() == "passed" && gate["complete"].as_bool();
}

}  // namespace assay::score
