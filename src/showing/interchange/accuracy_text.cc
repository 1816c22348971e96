#include "interchange/accuracy_text.h"

#include "base/format.h"

namespace assay::interchange {

// "score 95 % interval 0.6 to 0.86 (standard error 0.07, wilson, 198 samples)", a line a figure.
std::string uncertainty_text(const Json& uncertainty) {
  std::string out;
  for (const auto& [name, one] : uncertainty.members()) {
    const Json& interval = one["interval"];
    if (interval.size() != 2) continue;
    out += format("    {}: {:g} % interval {:.4g} to {:.4g} (", name,
                  100 * one["confidence"].as_double(), interval.items()[0].as_double(),
                  interval.items()[1].as_double());
    if (one["standard_error"].is_number()) {
      out += format("standard error {:.2g}, ", one["standard_error"].as_double());
    }
    out += format("{}, {} samples)\n", one["method"].as_string(), one["samples"].as_int());
  }
  return out;
}

namespace {

// A number as it stands, an object as "rouge1 44.43, rouge2 …".
std::string score_text(const Json& score) {
  if (score.is_null()) return "N/A";
  if (score.is_number()) return format("{:.4g}", score.as_double());
  if (!score.is_object()) return score.dump();
  std::string out;
  for (const auto& [name, value] : score.members()) {
    out += format("{}{} {}", out.empty() ? "" : ", ", name,
                  value.is_string() ? std::string(value.as_string()) : value.dump());
  }
  return out;
}

std::string entry_text(const Json& entry) {
  std::string out = format("  {}: {} (unit={}, repeats={}, total={}, duration={:.2f}s)\n",
                           entry["dataset_name"].as_string(), score_text(entry["score"]),
                           entry["unit_samples"].as_int(), entry["num_repeats"].as_int(),
                           entry["total_samples"].as_int(), entry["duration_s"].as_double());
  if (const Json& counts = entry["response_counts"]; counts.is_object()) {
    out += format("    responses: {}/{} scored ({} empty, {} missing)\n", counts["scored"].as_int(),
                  counts["issued"].as_int(), counts["empty"].as_int(), counts["missing"].as_int());
  }
  if (const Json& lengths = entry["output_sequence_lengths"]; lengths.size() > 0) {
    out += format("    output tokens (avg/min/max): {:.1f}/{}/{}\n", lengths["avg"].as_double(),
                  lengths["min"].as_int(), lengths["max"].as_int());
  }
  out += uncertainty_text(entry["uncertainty"]);
  for (const auto& [name, score] : entry["breakdown"]["subset_scores"].members()) {
    out += format("    {}: {:.2f}%\n", name, score.as_double());
  }
  if (entry["note"].is_string()) out += format("    note: {}\n", entry["note"].as_string());
  if (entry["error"].is_string()) out += format("    error: {}\n", entry["error"].as_string());
  if (!entry["complete"].as_bool()) out += "    (incomplete)\n";
  return out;
}

// "at least 38.39", "883 to 970".
std::string demand_text(const Json& item) {
  const Json& low = item["at_least"];
  const Json& high = item["at_most"];
  if (low.is_number() && high.is_number()) {
    return format("{} to {}", json_number(low.as_double()), json_number(high.as_double()));
  }
  if (low.is_number()) return format("at least {}", json_number(low.as_double()));
  if (high.is_number()) return format("at most {}", json_number(high.as_double()));
  return "reported";
}

std::string verdict_text(const Json& verdict) {
  return verdict.as_string() == "not_measured" ? "not measured" : std::string(verdict.as_string());
}

}  // namespace

std::string quality_text(const Json& gate) {
  if (gate.is_null()) return {};
  std::string out = format("Quality, as {} demands it ({}):\n", gate["workload"].as_string(),
                           gate["edition"].as_string());
  for (const Json& item : gate["items"].items()) {
    const Json& value = item["value"];
    out += format("  {}: {}, {}", item["metric"].as_string(),
                  value.is_null() ? "N/A" : format("{:.4f}", value.as_double()), demand_text(item));
    if (item["reference"].is_number()) {
      out += format(" (reference {})", json_number(item["reference"].as_double()));
    }
    if (item["of"].is_string()) out += format(" of {}", item["of"].as_string());
    out += format(": {}\n", verdict_text(item["verdict"]));
  }
  out += format("  => {}{}\n", verdict_text(gate["verdict"]),
                gate["complete"].as_bool() ? "" : ", but not on the workload's whole dataset");
  for (const Json& note : gate["notes"].items()) out += format("     {}\n", note.as_string());
  return out;
}

std::string accuracy_text(const Json& results) {
  if (results["accuracy_scores"].size() == 0) return {};
  std::string out = "Accuracy:\n";
  for (const Json& entry : results["accuracy_scores"].items()) out += entry_text(entry);
  if (results["average_accuracy"].is_number()) {
    out += format("  Average: {:.4g}\n", results["average_accuracy"].as_double());
  }
  if (results["osl_tokenization_s"].is_number()) {
    out += format("  OSL tokenization: {:.3g}s\n", results["osl_tokenization_s"].as_double());
  }
  return out + quality_text(results["quality"]);
}

}  // namespace assay::interchange
