#include "desk/edge_round.h"

#include <string_view>
#include <system_error>
#include <utility>

#include "audit/loaded_run.h"
#include "base/files.h"
#include "base/format.h"
#include "base/yaml.h"

namespace assay::desk {
namespace {

constexpr std::string_view kEdgeModel = "qwen3.6-27b";
constexpr std::int64_t kEdgeSeed = 42;
constexpr double kOverallLeast = 0.97 * 86.23;
constexpr double kSingleTurnLeast = 0.97 * 87.96;
constexpr std::int64_t kRowsLeast = 995;
constexpr std::size_t kConfigMax = std::size_t{4} << 20;

Result<Json> config_of(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const std::string text, read_file(folder / "config.yaml", kConfigMax));
  ASSIGN_OR_RETURN(const yaml::Node node, yaml::parse(text));
  return node.to_json();
}

void add(std::vector<EdgeFinding>& out, std::string_view name, bool passed, std::string detail) {
  out.push_back({std::string(name), passed, std::move(detail)});
}

// A setting that must be this number where it is given; `needed`: it must be given.
void must_be(std::vector<EdgeFinding>& out, std::string_view name, const Json& value,
             std::int64_t wanted, bool needed) {
  if (value.is_null()) {
    add(out, name, !needed, needed ? format("is not set; {} is asked", wanted) : "is not set");
    return;
  }
  add(out, name, value.is_integer() && value.as_int() == wanted,
      format("is {}; {} is asked", value.dump(), wanted));
}

void add_accuracy(std::vector<EdgeFinding>& out, const Json& accuracy) {
  for (const Json& score : accuracy["accuracy_scores"].items()) {
    const Json& breakdown = score["breakdown"];
    if (!breakdown["overall_accuracy"].is_number()) continue;
    for (const auto& [name, least] :
         {std::pair{"overall_accuracy", kOverallLeast},
          std::pair{"normalized_single_turn_score", kSingleTurnLeast}}) {
      const double value = breakdown[name].as_double();
      add(out, name, breakdown[name].is_number() && value >= least,
          format("is {:.4f}; at least {:.4f} is asked", value, least));
    }
    const std::int64_t rows = score["total_samples"].as_int();
    add(out, "total_samples", rows >= kRowsLeast,
        format("are {}; at least {} are asked", rows, kRowsLeast));
    return;
  }
  add(out, "accuracy", false, "bfcl_v4 was not scored in this run (--mode both)");
}

}  // namespace

std::vector<EdgeFinding> judge_edge_round(const Json& config, const Json& accuracy,
                                          const Json& turns) {
  std::vector<EdgeFinding> out;
  const Json& params = config["model_params"];
  const Json& settings = config["settings"];
  add(out, "temperature",
      params["temperature"].is_number() && params["temperature"].as_double() == 0,
      format("is {}; 0 is asked", params["temperature"].dump()));
  must_be(out, "model_params.seed", params["seed"], kEdgeSeed, false);
  must_be(out, "dataloader_random_seed", settings["runtime"]["dataloader_random_seed"], kEdgeSeed,
          false);
  must_be(out, "num_workers", settings["client"]["num_workers"], 1, true);
  must_be(out, "max_connections", settings["client"]["max_connections"], 1, true);
  must_be(out, "target_concurrency", settings["load_pattern"]["target_concurrency"], 1, false);
  add_accuracy(out, accuracy);
  if (!turns.is_object()) {
    add(out, "turns", false, "no scores.json of conversations (agentic_inference_inline)");
    return out;
  }
  const std::int64_t expected = turns["expected"].as_int();
  const std::int64_t observed = turns["observed"].as_int();
  add(out, "turns", expected > 0 && observed == expected && turns["missing"].as_int() == 0,
      format("{} of {} were observed, {} are missing", observed, expected,
             turns["missing"].as_int()));
  return out;
}

bool is_edge_round(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(audit::log_folder(folder), ignored)) return false;
  const auto config = config_of(folder);
  if (!config) return false;
  return (*config)["submission_ref"]["model"].as_string() == kEdgeModel ||
         (*config)["model_params"]["name"].as_string() == kEdgeModel;
}

Result<std::vector<EdgeFinding>> check_edge_round(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const Json config, config_of(folder));
  Json turns;
  std::error_code ignored;
  if (std::filesystem::exists(folder / "scores.json", ignored)) {
    ASSIGN_OR_RETURN(const Json scores, read_json_file(folder / "scores.json"));
    turns = scores["turns"];
  }
  return judge_edge_round(config, audit::accuracy_results(folder), turns);
}

}  // namespace assay::desk
