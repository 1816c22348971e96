// Results of LoadGen: a folder with its detail log, or a tree of MLPerf Inference, read tolerantly.
// A curve is a model on a system in a round; its points are the scenarios.
//
// LoadGen has no concurrency. A point stands at the mean number of samples in flight, which follows
// from its own figures (Little's law: samples a second × mean latency); in SingleStream and
// MultiStream it is the samples of a query. Queries that wait for their turn are in flight.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "explorer/import_parts.h"
#include "rules/inference/check.h"
#include "rules/inference/rule.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;
namespace inference = rules::inference;
using inference::DetailLog;

constexpr const char* kDetail = "mlperf_log_detail.txt";

// The round whose seeds the log has; the newest of several.
std::string round_of(const DetailLog& log) {
  std::string out;
  for (const std::string& name : rulebook::inference_round_names()) {
    const auto round = rulebook::inference_round(name);
    if (round && log["effective_qsl_rng_seed"].as_uint() == round->qsl_rng_seed &&
        log["effective_schedule_rng_seed"].as_uint() == round->schedule_rng_seed) {
      out = std::max(out, name);
    }
  }
  return out;
}

void put(Json& out, std::string_view key, double value) {
  if (std::isfinite(value) && value > 0) out.set(key, value);
}

// A series' figures: of the point, and of the run's distributions.
void add_series(const DetailLog& log, std::string_view name, std::string_view key_begin,
                std::string_view key_end, Json& point, Json& distributions) {
  Json percentiles = Json::object();
  for (const auto& [theirs, ours] :
       {std::pair{"50.00", "50.0"}, std::pair{"90.00", "90.0"}, std::pair{"95.00", "95.0"},
        std::pair{"99.00", "99.0"}, std::pair{"99.90", "99.9"}}) {
    const double ms = log[format("{}{}{}", key_begin, theirs, key_end)].as_double() * 1e-6;
    if (!(std::isfinite(ms) && ms > 0)) continue;
    percentiles.set(ours, ms);
    const std::string_view digits = std::string_view(ours).substr(0, 2);
    if (std::string_view(ours).ends_with(".0") && digits != "95") {
      point.set(format("{}_ms_p{}", name, digits), ms);
    }
  }
  if (percentiles.size() == 0) return;
  distributions.set(name, Json()
                              .set("count", log["result_query_count"].as_uint())
                              .set("percentiles", std::move(percentiles)));
}

double samples_per_second(const DetailLog& log, std::string_view scenario, double per_query) {
  if (scenario == "Offline") return log["result_samples_per_second"].as_double();
  if (scenario == "Server") return log["result_completed_samples_per_sec"].as_double();
  if (scenario == "SingleStream") return log["result_qps_with_loadgen_overhead"].as_double();
  const double query_ns = log["result_mean_query_latency_ns"].as_double();
  return query_ns > 0 ? per_query * 1e9 / query_ns : 0;
}

PointFacts point_of(const DetailLog& log) {
  PointFacts out;
  const std::string_view scenario = log["effective_scenario"].as_string();
  const double per_query = std::max(1.0, log["effective_samples_per_query"].as_double());
  const double rate = samples_per_second(log, scenario, per_query);
  Json distributions = Json::object();
  out.point = Json::object();
  put(out.point, "qps", rate);
  const double tokens = log["result_tokens_per_second"].as_double(
      log["result_completed_tokens_per_second"].as_double());
  put(out.point, "system_tps", tokens);
  if (rate > 0) put(out.point, "osl_mean", tokens / rate);
  if (scenario == "Server") put(out.point, "rate", log["effective_target_qps"].as_double());
  add_series(log, "latency", "result_", "_percentile_latency_ns", out.point, distributions);
  add_series(log, "ttft", "result_first_token_", "_percentile_latency_ns", out.point,
             distributions);
  add_series(log, "tpot", "result_time_per_output_token_", "_percentile_ns", out.point,
             distributions);
  put(out.point, "tps_per_user", 1000 / out.point["tpot_ms_p90"].as_double());
  out.point.set("issued", log["result_query_count"].as_uint());
  const bool valid = log["result_validity"].as_string() == "VALID";
  out.point.set("complete", true);

  const bool waits = scenario == "SingleStream" || scenario == "MultiStream";
  out.concurrency =
      waits ? per_query
            : std::round(rate * log["result_mean_latency_ns"].as_double() * 1e-9 * 100) / 100;
  if (scenario == "Offline") {
    out.region = "offline";
    out.offline = "dedicated";
  }
  Json warnings = Json::array();
  if (!valid) {
    warnings.push_back(format("the test is {}: {}", log["result_validity"].as_string("not judged"),
                              log["result_invalid_reason"].as_string("no reason is logged")));
  }
  for (const DetailLog::Error& error : log.errors()) {
    warnings.push_back("LoadGen logged an error: " + clean_name(error.text));
  }
  out.run = Json::object();
  out.run.set("measured_by", "LoadGen " + clean_name(log["loadgen_version"].as_string()));
  out.run.set("state", "complete").set("complete", true).set("warnings", std::move(warnings));
  out.run.set("failures", Json::array()).set("distributions", std::move(distributions));
  out.run.set("phases", Json::array()).set("steady_state", nullptr).set("files", Json::array());
  out.run.set("environment", Json()
                                 .set("scenario", scenario)
                                 .set("validity", log["result_validity"].as_string())
                                 .set("round", round_of(log)));
  return out;
}

// Whether a log has a result at all; an accuracy run has none.
Result<void> has_result(const DetailLog& log) {
  if (!log.good()) return invalid(log.trouble());
  if (log["effective_test_mode"].as_string() == "AccuracyOnly" || !log.has("result_validity")) {
    return invalid("it is the log of an accuracy run, or of one without a result");
  }
  return {};
}

std::string dataset_of_round(const std::string& round) {
  return round.empty() ? "MLPerf Inference" : "MLPerf Inference " + round;
}

void read_result(const inference::Tree& tree, const inference::SubmitterFolder& submitter,
                 const inference::SystemFolder& system, const inference::ResultFolder& result,
                 const ImportOptions& options, std::vector<FoundPoint>& out,
                 std::vector<std::string>& notes) {
  const DetailLog& log = result.performance;
  if (const auto usable = has_result(log); !usable) {
    return notes.push_back(format("{}: left out: {}", result.path,
                                  log.absent() ? "no log of LoadGen" : usable.error().message));
  }
  const std::string round = round_of(log);
  FoundPoint found{.point = point_of(log)};
  found.curve = {
      .system = facts_of_description(system.description.root()),
      .model = clean_name(result.official == nullptr ? result.model : result.official->name),
      .dataset = dataset_of_round(round),
      .origin = "submission",
      .layout = round.empty() ? "inference" : "inference-" + round,
      .submission = clean_name(tree.root.filename().string()),
      .path = tree.root.string()};
  SystemFacts& facts = found.curve.system;
  if (facts.name.empty()) facts.name = clean_name(system.name);
  facts.organisation = clean_name(submitter.name);
  facts.division = submitter.division;
  found.point.key = result.path;
  if (const auto watts = inference::run_watts(result)) {
    found.point.power_kw = *watts * 1e-3;
    found.point.power_basis = "measured";
  }
  apply_options(found.curve, options);
  out.push_back(std::move(found));
}

}  // namespace

bool is_loadgen_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kDetail, ignored);
}

bool is_inference_tree(const fs::path& folder) {
  std::error_code error;
  for (const char* const division : {"closed", "open", "network"}) {
    for (const auto& entry : fs::directory_iterator(folder / division, error)) {
      if (fs::is_directory(entry.path() / "results", error)) return true;
    }
  }
  return false;
}

Result<FoundPoint> read_loadgen_folder(const fs::path& folder, const ImportOptions& options) {
  const DetailLog log = DetailLog::read(folder, kDetail);
  TRY(has_result(log));
  FoundPoint found{.point = point_of(log)};
  found.curve = {
      .dataset = dataset_of_round(round_of(log)), .origin = "run", .path = folder.string()};
  found.curve.system.name = clean_name(log["sut_name"].as_string());
  found.point.key = id_of({log["test_datetime"].as_string(), log["effective_scenario"].as_string(),
                           found.point.point.dump()});
  apply_options(found.curve, options);
  return found;
}

std::vector<FoundPoint> read_inference_tree(const fs::path& root, const ImportOptions& options,
                                            std::vector<std::string>& notes) {
  std::vector<FoundPoint> out;
  auto newest = rulebook::inference_round(rulebook::inference_round_names().back());
  if (!newest) return out;
  const inference::Tree tree = inference::read(root, std::move(*newest));
  std::string round;
  for (const inference::SubmitterFolder& submitter : tree.submitters) {
    for (const inference::SystemFolder& system : submitter.systems) {
      for (const inference::ModelFolder& model : system.models) {
        for (const inference::ResultFolder& result : model.results) {
          round = std::max(round, round_of(result.performance));
          read_result(tree, submitter, system, result, options, out, notes);
        }
      }
    }
  }
  // Held against the rules of its own round, which the seeds tell.
  if (round.empty()) return out;
  const auto report = inference::check_inference(root, {.round = round});
  if (!report) return out;
  for (FoundPoint& found : out) {
    found.point.findings = findings_below(*report, found.point.key);
  }
  return out;
}

}  // namespace assay::explorer
