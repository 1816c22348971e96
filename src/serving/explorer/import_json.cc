// Results that are one JSON file: `assay simulate --json`, vLLM's serving benchmark, AIPerf.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "explorer/import_parts.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;

// Parses "gpt-oss-120b mxfp4 on 8 x h200-sxm, vllm, tp=8,dp=1,ep=1, KV fp8".
void read_description(std::string_view text, CurveFacts& facts) {
  const std::size_t on = text.find(" on ");
  if (on == std::string_view::npos) return;
  facts.model = clean_name(split(text.substr(0, on), ' ').front());
  const std::string_view rest = text.substr(on + 4);
  const std::size_t comma = rest.find(", ");
  facts.system.name = clean_name(rest);
  const std::string_view hardware = rest.substr(0, comma);
  const std::size_t times = hardware.find(" x ");
  if (times != std::string_view::npos) {
    facts.system.accelerator = clean_name(hardware.substr(times + 3));
    facts.system.accelerators = parse_int(trim(hardware.substr(0, times))).value_or(0);
  }
  if (comma == std::string_view::npos) return;
  const std::string_view software = rest.substr(comma + 2);
  const std::size_t end = software.find(", ");
  facts.system.software = clean_name(software.substr(0, end));
  if (end != std::string_view::npos) facts.system.parallel = clean_name(software.substr(end + 2));
}

// Six digits exceed the precision of a model or a summary, and take a third of the bytes.
double six_digits(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

Json bare_run(std::string_view measured_by) {
  Json out;
  out.set("measured_by", measured_by).set("state", "complete").set("complete", true);
  out.set("warnings", Json::array()).set("failures", Json::array());
  out.set("distributions", Json::object()).set("phases", Json::array());
  return out.set("steady_state", nullptr).set("files", Json::array());
}

// A summary's figures for a series, under the API's names.
class Summary {
 public:
  Summary(Json& point, Json& run) : point_(point), run_(run) {}
  void percentile(std::string_view name, const char* key, double value) {
    if (!std::isfinite(value) || value <= 0) return;
    value = six_digits(value);
    percentiles_.set(key, value);
    const std::string_view digits = std::string_view(key).substr(0, 2);
    if (digits == "50" || digits == "90" || digits == "99") {
      point_.set(format("{}_ms_p{}", name, digits), value);
    }
  }
  void figure(std::string_view key, double value) {
    if (std::isfinite(value) && value > 0) series_.set(key, six_digits(value));
  }
  void close(std::string_view name, std::uint64_t count) {
    if (percentiles_.size() == 0 && series_.size() == 0) return;
    series_.set("count", count).set("percentiles", std::move(percentiles_));
    run_.find("distributions")->set(name, std::move(series_));
    percentiles_ = Json::object();
    series_ = Json::object();
  }

 private:
  Json& point_;
  Json& run_;
  Json percentiles_ = Json::object();
  Json series_ = Json::object();
};

void set_positive(Json& out, std::string_view key, double value) {
  if (std::isfinite(value) && value > 0) out.set(key, six_digits(value));
}

// A twin joins the curve it was fitted to, under the model's name there.
void read_fit(const Json& fitted_to, CurveFacts& facts) {
  facts.twin_of = clean_name(fitted_to["curve_id"].as_string());
  const std::string model = clean_name(fitted_to["model"].as_string());
  if (!facts.twin_of.empty() && !model.empty()) facts.model = model;
}

std::vector<FoundPoint> simulated(const Json& json, const fs::path& path,
                                  const ImportOptions& options) {
  std::vector<FoundPoint> out;
  for (const Json& told : json["points"].items()) {
    FoundPoint found;
    found.curve = {.origin = "simulated", .path = path.string()};
    found.curve.system.kind = "simulated";
    read_description(json["system"].as_string(), found.curve);
    read_fit(json["fitted_to"], found.curve);
    found.curve.dataset =
        format("synthetic {} in, {} out", std::llround(told["isl_mean"].as_double()),
               std::llround(told["osl_mean"].as_double()));
    Json& point = found.point.point;
    Json& run = found.point.run;
    point = Json::object();
    run = bare_run("assay simulate");
    for (const char* key : {"rate", "system_tps", "tps_per_user", "qps", "isl_mean", "osl_mean"}) {
      set_positive(point, key, told[key].as_double());
    }
    Summary summary(point, run);
    for (const char* name : {"ttft", "tpot", "latency"}) {
      for (const auto& [key, digits] :
           {std::pair{"50.0", "p50"}, std::pair{"90.0", "p90"}, std::pair{"99.0", "p99"}}) {
        summary.percentile(name, key, told[format("{}_ms_{}", name, digits)].as_double());
      }
      summary.figure("mean", told[format("{}_ms_mean", name)].as_double());
      summary.close(name, told["queries"].as_uint());
    }
    point.set("issued", told["queries"].as_uint()).set("failed", told["refused"].as_uint());
    point.set("complete", true);
    // The sum over all accelerators.
    found.point.power_kw = six_digits(told["watts_mean"].as_double() * 1e-3);
    found.point.power_basis = "simulated";
    run.set("environment", Json().set("calibration", json["calibration"]));
    found.point.concurrency = told["concurrency"].as_double(told["in_flight_mean"].as_double());
    found.point.key = format("{}/{}", found.point.concurrency, told["rate"].as_double());
    apply_options(found.curve, options);
    out.push_back(std::move(found));
  }
  return out;
}

// What follows from the figures, and how many queries there were.
void close_point(std::uint64_t completed, std::uint64_t failed, PointFacts& out) {
  const double tpot = out.point["tpot_ms_p90"].as_double();
  if (tpot > 0) out.point.set("tps_per_user", 1000 / tpot);
  out.point.set("issued", completed + failed).set("failed", failed).set("complete", true);
  out.run.set(
      "counts",
      Json().set("issued", completed + failed).set("completed", completed).set("failed", failed));
}

FoundPoint vllm(const Json& json, const fs::path& path, const ImportOptions& options) {
  FoundPoint found;
  found.curve = {.model = clean_name(json["model_id"].as_string(json["model"].as_string())),
                 .dataset = clean_name(json["dataset_name"].as_string()),
                 .origin = "vllm",
                 .path = path.string()};
  found.curve.system.name = clean_name(json["base_url"].as_string(
      json["endpoint_url"].as_string(path.parent_path().filename().string())));
  found.curve.system.software = clean_name(json["backend"].as_string());
  Json& point = found.point.point;
  Json& run = found.point.run;
  point = Json::object();
  run = bare_run("vllm bench serve");
  const std::uint64_t completed = json["completed"].as_uint();
  const std::uint64_t failed = json["failed"].as_uint();
  set_positive(point, "system_tps", json["output_throughput"].as_double());
  set_positive(point, "qps", json["request_throughput"].as_double());
  set_positive(point, "duration_s", json["duration"].as_double());
  if (completed > 0) {
    const auto n = static_cast<double>(completed);
    set_positive(point, "isl_mean", json["total_input_tokens"].as_double() / n);
    set_positive(point, "osl_mean", json["total_output_tokens"].as_double() / n);
  }
  Summary summary(point, run);
  for (const auto& [ours, theirs] : {std::pair{"ttft", "ttft"}, std::pair{"tpot", "tpot"},
                                     std::pair{"itl", "itl"}, std::pair{"latency", "e2el"}}) {
    const auto value = [&json, theirs = theirs](std::string_view prefix) {
      return json[format("{}_{}_ms", prefix, theirs)].as_double();
    };
    summary.percentile(ours, "50.0", value("median"));
    for (const char* p : {"75", "90", "95", "99", "99.9"}) {
      summary.percentile(ours, json_number(*parse_double(p)).c_str(), value(format("p{}", p)));
    }
    summary.figure("mean", value("mean"));
    summary.figure("std_dev", value("std"));
    summary.close(ours, completed);
  }
  close_point(completed, failed, found.point);
  found.point.concurrency =
      json["max_concurrency"].as_double(json["max_concurrent_requests"].as_double());
  found.point.key = id_of({json.dump()});
  apply_options(found.curve, options);
  return found;
}

FoundPoint aiperf(const Json& json, const fs::path& path, const ImportOptions& options) {
  const Json& config = json["input_config"];
  const Json& endpoint = config["endpoint"];
  FoundPoint found;
  found.curve = {.origin = "aiperf", .path = path.string()};
  // Versions up to 0.12 have endpoint, input and loadgen; 0.13 and later models, datasets and
  // phases.
  const Json& models = endpoint["model_names"];
  const std::string_view model = models.is_array() ? models[0].as_string() : models.as_string();
  found.curve.model = clean_name(config["models"]["items"][0]["name"].as_string(model));
  const std::string_view dataset = config["input"]["public_dataset"].as_string(
      config["input"]["custom_dataset_type"].as_string("synthetic"));
  found.curve.dataset = clean_name(config["datasets"][0]["type"].as_string(dataset));
  found.curve.system.name = clean_name(endpoint["url"].as_string(endpoint["urls"][0].as_string()));
  Json& point = found.point.point;
  Json& run = found.point.run;
  point = Json::object();
  run = bare_run("aiperf");
  set_positive(point, "system_tps", json["output_token_throughput"]["avg"].as_double());
  set_positive(point, "qps", json["request_throughput"]["avg"].as_double());
  set_positive(point, "isl_mean", json["input_sequence_length"]["avg"].as_double());
  set_positive(point, "osl_mean", json["output_sequence_length"]["avg"].as_double());
  const auto completed =
      static_cast<std::uint64_t>(std::max(0.0, json["request_count"]["avg"].as_double()));
  const auto failed =
      static_cast<std::uint64_t>(std::max(0.0, json["error_request_count"]["avg"].as_double()));
  Summary summary(point, run);
  for (const auto& [ours, theirs] :
       {std::pair{"ttft", "time_to_first_token"}, std::pair{"tpot", "inter_token_latency"},
        std::pair{"latency", "request_latency"}}) {
    const Json& told = json[theirs];
    const double unit = told["unit"].as_string() == "s" ? 1000 : 1;
    for (const char* p : {"1", "5", "10", "25", "50", "75", "90", "95", "99"}) {
      summary.percentile(ours, format("{}.0", p).c_str(),
                         told[format("p{}", p)].as_double() * unit);
    }
    for (const auto& [key, name] : {std::pair{"avg", "mean"}, std::pair{"std", "std_dev"},
                                    std::pair{"min", "min"}, std::pair{"max", "max"}}) {
      summary.figure(name, told[key].as_double() * unit);
    }
    summary.close(ours, completed);
  }
  close_point(completed, failed, found.point);
  found.point.concurrency = config["loadgen"]["concurrency"].as_double();
  for (const Json& phase : config["phases"].items()) {
    if (phase["kind"].as_string() == "warmup") continue;
    found.point.concurrency = phase["concurrency"].as_double(found.point.concurrency);
  }
  found.point.key = id_of({json.dump()});
  apply_options(found.curve, options);
  return found;
}

}  // namespace

std::optional<std::vector<FoundPoint>> read_result_json(const Json& json, const fs::path& path,
                                                        const ImportOptions& options) {
  if (is_result_table(json)) return read_result_table(json, path, options);
  if (!json.is_object()) return std::nullopt;
  if (json["kind"].as_string() == "simulated" && json["points"].is_array()) {
    return simulated(json, path, options);
  }
  if (json["request_throughput"].is_number() && json["output_throughput"].is_number()) {
    return std::vector<FoundPoint>{vllm(json, path, options)};
  }
  if (json["request_throughput"]["avg"].is_number() && json["input_config"].is_object()) {
    return std::vector<FoundPoint>{aiperf(json, path, options)};
  }
  return std::nullopt;
}

}  // namespace assay::explorer
