#include "sites/release.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sites {
namespace {

constexpr std::string_view kFormat = "assay-release";
constexpr std::int64_t kVersion = 1;

// Figures of a run, as docs/formats/run_folder.md defines them.
constexpr std::array<std::string_view, 18> kFields{"completed",
                                                   "failed",
                                                   "accuracy",
                                                   "qps",
                                                   "tps",
                                                   "tps_per_user",
                                                   "ttft_ms_p50",
                                                   "ttft_ms_p90",
                                                   "ttft_ms_p99",
                                                   "tpot_ms_p50",
                                                   "tpot_ms_p90",
                                                   "tpot_ms_p99",
                                                   "latency_ms_p50",
                                                   "latency_ms_p99",
                                                   "accuracy_met",
                                                   "safe_share",
                                                   "safety_grade",
                                                   "safety_met"};

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Why a figure stays; "" if it may leave.
std::string reason_to_stay(const MeasuredLevel& level, const ReleasePolicy& policy,
                           const std::string& name, double value) {
  const std::int64_t k = policy.k_minimum;
  if (!has(policy.fields, name)) return "the policy does not list it";
  if (!std::isfinite(value)) return "it has no value";
  if (name == "completed" || name == "failed") {
    if (value > 0 && value < static_cast<double>(k)) return format("a count below {}", k);
    return "";
  }
  const bool of_safety = name.starts_with("safe");
  if (!of_safety && level.completed < k) {
    return format("over {} samples, fewer than {}", level.completed, k);
  }
  if (!of_safety && !name.starts_with("accuracy")) return "";
  const std::string_view source = of_safety ? "safe_share" : "accuracy";
  const auto share =
      std::ranges::find(level.figures, source, &std::pair<std::string, double>::first);
  if (share == level.figures.end()) return format("without {}", source);
  const auto samples = of_safety ? level.judged : level.scored;
  const auto scored = static_cast<double>(samples.value_or(0));
  if (scored < static_cast<double>(k)) return format("over fewer than {} scored samples", k);
  // A share of few cases says something about them, and so does whether it is high enough.
  for (const double part : {share->second * scored, (1 - share->second) * scored}) {
    const double cases = std::round(part);
    if (cases > 0 && cases < static_cast<double>(k)) {
      return format("right or wrong in fewer than {} cases", k);
    }
  }
  return "";
}

Result<ReleaseLevel> parse_level(const Json& json) {
  ReleaseLevel level{.concurrency = json["concurrency"].as_int()};
  for (const auto& [name, value] : json["figures"].members()) {
    if (!is_release_field(name)) return invalid("figures: a name that no release has");
    if (!value.is_number()) return invalid(format("figures: {}: not a number", name));
    level.figures.emplace_back(name, value.as_double());
  }
  return level;
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) { return hex_value(c) >= 0; });
}

}  // namespace

bool is_release_field(std::string_view name) {
  return std::ranges::find(kFields, name) != kFields.end();
}

double rounded_to(double value, int digits) {
  // Through text, because it rounds the decimal digits that a reader sees.
  return parse_double(format("{:.{}e}", value, std::clamp(digits, 1, 15) - 1)).value_or(0);
}

Candidate make_candidate(const std::vector<MeasuredLevel>& measured, const ReleasePolicy& policy,
                         const std::vector<std::string>& wanted, ReleaseDocument head) {
  Candidate out{.document = std::move(head)};
  out.document.levels.clear();
  for (const MeasuredLevel& level : measured) {
    ReleaseLevel leaves{.concurrency = level.concurrency};
    for (const auto& [name, value] : level.figures) {
      if (!has(wanted, name) || !is_release_field(name)) continue;
      const std::string why = reason_to_stay(level, policy, name, value);
      if (why.empty()) {
        leaves.figures.emplace_back(name, rounded_to(value, policy.digits));
      } else {
        out.kept_back.push_back(format("concurrency {}: {}: {}", level.concurrency, name, why));
      }
    }
    out.document.levels.push_back(std::move(leaves));
  }
  return out;
}

std::string to_text(const ReleaseDocument& document) {
  Json levels = Json::array();
  for (const ReleaseLevel& level : document.levels) {
    Json figures = Json::object();
    for (const auto& [name, value] : level.figures) figures.set(name, value);
    levels.push_back(
        Json::object().set("concurrency", level.concurrency).set("figures", std::move(figures)));
  }
  return Json::object()
             .set("format", kFormat)
             .set("version", kVersion)
             .set("run", document.run)
             .set("benchmark", document.benchmark)
             .set("dataset_sha256", document.dataset_sha256)
             .set("model", document.model)
             .set("levels", std::move(levels))
             .dump(2) +
         "\n";
}

Result<ReleaseDocument> parse_release(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  if (json["format"].as_string() != kFormat || json["version"].as_int() != kVersion) {
    return invalid(format("document: not {} of version {}", kFormat, kVersion));
  }
  ReleaseDocument out{.run = std::string(json["run"].as_string()),
                      .benchmark = std::string(json["benchmark"].as_string()),
                      .dataset_sha256 = std::string(json["dataset_sha256"].as_string()),
                      .model = std::string(json["model"].as_string())};
  if (!is_plain_id(out.run) || !is_plain_id(out.benchmark) || !is_plain_id(out.model) ||
      !is_sha256(out.dataset_sha256)) {
    return invalid("document: run, benchmark, model or dataset_sha256 is not an id");
  }
  for (const Json& level : json["levels"].items()) {
    ASSIGN_OR_RETURN(ReleaseLevel read, parse_level(level));
    out.levels.push_back(std::move(read));
  }
  if (to_text(out) != text) return invalid("document: not in its only spelling");
  return out;
}

}  // namespace assay::sites
