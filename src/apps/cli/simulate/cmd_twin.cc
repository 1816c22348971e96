#include <algorithm>
#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/simulate/simulate_words.h"
#include "report/simulated.h"
#include "sim/twin.h"

namespace assay::cli {
namespace {

constexpr double kWarnAbove = 0.2;
// Above this error the twin does not match its system: the command fails.
constexpr double kUselessAbove = 0.5;

namespace fs = std::filesystem;

// A measured curve: its points, and the lengths that its runs asked for.
struct Measured {
  Json curve{};
  std::vector<sim::MeasuredPoint> points{};
  std::vector<sim::MeasuredLoad> loads{};
  std::string untold{};  // why a run's lengths are unknown
};

// The run's queries per slot, so that its first burst has the same weight.
std::uint32_t queries_per_slot(const Json& summary, std::uint32_t concurrency) {
  const double each = summary["n_samples_completed"].as_double() / std::max(1U, concurrency);
  return each > 0 ? static_cast<std::uint32_t>(std::clamp(each, 6.0, 40.0)) : 0;
}

// A point's run is beside curve_summary.json; a curve of `assay simulate --json` has means only.
void read_runs(Measured& out, const fs::path& folder) {
  std::size_t next = 0;
  for (const Json& item : out.curve["points"].items()) {
    if (!item["measured"].as_bool(true) || item["offline"].as_string() == "dedicated") continue;
    sim::MeasuredPoint& point = out.points[next++];
    const fs::path file =
        folder / "points" / std::string(item["name"].as_string()) / "result_summary.json";
    const auto text = item["name"].as_string().empty() ? Result<std::string>(invalid("no name"))
                                                       : read_file(file, std::size_t{64} << 20);
    Result<Json> summary = text ? Json::parse(*text) : Result<Json>(text.error());
    const auto load = summary ? sim::read_load(*summary) : sim::read_mean_load(item);
    if (summary) point.queries_per_slot = queries_per_slot(*summary, point.concurrency);
    if (load) {
      out.loads.push_back(*load);
    } else {
      out.untold = summary ? format("{}: {}", file.string(), load.error().message)
                           : format("points[{}]: {}", next - 1, load.error().message);
    }
  }
}

Result<Measured> read_curve(const std::string& path) {
  fs::path file = path;
  if (fs::is_directory(file)) file /= "curve_summary.json";
  ASSIGN_OR_RETURN(const std::string text, read_file(file, std::size_t{64} << 20));
  Measured out;
  auto parsed = Json::parse(text);
  if (!parsed) return parsed.error().within(file.string());
  out.curve = std::move(*parsed);
  auto points = sim::read_measured(out.curve);
  if (!points) return points.error().within(file.string());
  out.points = std::move(*points);
  read_runs(out, file.parent_path());
  return out;
}

// The twin's load, which it keeps: from the flags, or else from the curve's runs.
Result<sim::MeasuredLoad> load_of(const SystemFlags& system, const Measured& measured,
                                  const sim::Catalogue& catalogue, const std::string& path) {
  sim::MeasuredLoad out;
  const bool told = measured.untold.empty() && !measured.loads.empty();
  if (told) out = sim::pooled(measured.loads);
  if (!told && (system.isl.empty() || system.osl.empty())) {
    return invalid(
        format("--isl, --osl: are required: {} does not say how long prompts and replies "
               "were\n  {}",
               path, measured.untold));
  }
  if (system.isl.empty() && system.osl.empty()) return out;
  ASSIGN_OR_RETURN(const sim::Workload said, system.workload(catalogue));
  if (!system.isl.empty()) out.input = sim::classes_of(said.input);
  if (!system.osl.empty()) out.output = sim::classes_of(said.output);
  return out;
}

double worst_median(const sim::Twin& twin) {
  return std::max(twin.tpot_error_after, twin.ttft_error_after);
}

Json fit_json(const sim::ClusterSpec& spec, const sim::Twin& twin, const Measured& measured,
              const sim::MeasuredLoad& load, const std::string& provenance,
              const std::string& file) {
  const Json& curve = measured.curve;
  Json factors;
  for (std::size_t i = 0; i < sim::Twin::kFactors; ++i) {
    factors.set(sim::twin_constants()[i], twin.factors[i]);
  }
  // `assay import` shows the twin beside the curve it was fitted to.
  Json fitted_to = Json::object();
  for (const char* key : {"curve_id", "model"}) {
    if (!curve[key].as_string().empty()) fitted_to.set(key, curve[key].as_string());
  }
  Json points = Json::array();
  for (const sim::SimPoint& point : twin.points) points.push_back(report::point_json(point));
  return Json()
      .set("kind", "simulated")
      .set("system", sim::describe(spec))
      .set("calibration", provenance)
      .set("file", file)
      .set("fitted_to", std::move(fitted_to))
      .set("factors", std::move(factors))
      .set("tpot_error_before", twin.tpot_error_before)
      .set("tpot_error_after", twin.tpot_error_after)
      .set("ttft_error_before", twin.ttft_error_before)
      .set("ttft_error_after", twin.ttft_error_after)
      .set("tpot_error_max", twin.tpot_error_max)
      .set("ttft_error_max", twin.ttft_error_max)
      .set("good", worst_median(twin) <= kWarnAbove)
      .set("isl_mean", sim::mean_tokens(load.input))
      .set("osl_mean", sim::mean_tokens(load.output))
      .set("cached_share", load.cached_share)
      .set("points", std::move(points));
}

std::string provenance_of(const std::string& curve, const sim::Twin& twin,
                          const sim::MeasuredLoad& load) {
  return format(
      "fitted to {} points of {}, {} tokens in and {} out; largest error TPOT {:.1f} %, "
      "TTFT {:.1f} %",
      twin.points.size(), curve, sim::describe(load.input), sim::describe(load.output),
      twin.tpot_error_max * 100, twin.ttft_error_max * 100);
}

std::string fit_text(const sim::ClusterSpec& spec, const sim::Twin& twin,
                     const sim::MeasuredLoad& load) {
  std::string out =
      format("simulated  {}, fitted to {} points\n           {} tokens in, {} out{}\n\n",
             sim::describe(spec), twin.points.size(), sim::describe(load.input),
             sim::describe(load.output),
             load.cached_share > 0 ? format(", {:.0f} % cached", load.cached_share * 100) : "");
  for (std::size_t i = 0; i < sim::Twin::kFactors; ++i) {
    out += format("  {:<18} x {:.3f}\n", sim::twin_constants()[i], twin.factors[i]);
  }
  return out + format(
                   "\n  median error   TPOT {:.1f} % -> {:.1f} %   TTFT {:.1f} % -> {:.1f} %\n"
                   "  largest error  TPOT {:.1f} %   TTFT {:.1f} %\n\n{}",
                   twin.tpot_error_before * 100, twin.tpot_error_after * 100,
                   twin.ttft_error_before * 100, twin.ttft_error_after * 100,
                   twin.tpot_error_max * 100, twin.ttft_error_max * 100,
                   report::points_table(twin.points));
}

}  // namespace

Result<int> cmd_twin(Args args) {
  SystemFlags system;
  std::string curve;
  std::string out = "twin.yaml";
  bool json = false;
  Flags flags("twin", "a model of your own system: five constants fitted to its measured curve");
  flags
      .add("CURVE", &curve,
           "a curve's folder, or its JSON: points with concurrency, tpot_ms_mean, ttft_ms_mean")
      .required();
  system.add_to(flags);
  flags.add("--out", &out, "where the twin goes; use it with --catalogue").value("FILE");
  flags.add("--json", &json, "print the fit as JSON");
  flags.example("assay twin curves/m --model gpt-oss-120b --hardware h200-sxm");
  flags.example(
      "assay twin curve.json --model llama3.1-70b --hardware h200-sxm --precision fp8 "
      "--parallel tp=4 --isl uniform:819-1024 --osl uniform:819-1024");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  ASSIGN_OR_RETURN(const Measured measured, read_curve(curve));
  ASSIGN_OR_RETURN(const sim::Catalogue catalogue, system.read_catalogue());
  ASSIGN_OR_RETURN(const sim::Scenario scenario, system.resolve());
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, scenario));
  ASSIGN_OR_RETURN(const sim::MeasuredLoad load, load_of(system, measured, catalogue, curve));
  if (measured.points.size() < 6) {
    say(format("{} points: below six the five constants can not be told apart",
               measured.points.size()));
  }

  sim::Twin twin = sim::fit_twin(spec, sim::workload_of(load), measured.points);
  const sim::Trust trust = sim::trust_of({sim::twin_family(spec, twin)}, spec.deployment.subject(),
                                         spec.prefill.has_value());
  for (sim::SimPoint& point : twin.points) point.trust = trust;
  const std::string provenance = provenance_of(curve, twin, load);
  TRY(write_file_atomic(out, sim::twin_yaml(spec, twin, load, provenance)));
  if (json) {
    print(fit_json(spec, twin, measured, load, provenance, out).dump(2) + "\n");
  } else {
    print(fit_text(spec, twin, load));
    say(format("saved to {}; next: assay simulate --catalogue {} …", out, out));
  }
  if (worst_median(twin) > kWarnAbove) {
    say(format(
        "warning: the median error is {:.0f} % in TPOT and {:.0f} % in TTFT, above {:.0f} %: "
        "this model is not your system; check --model, --hardware, --backend, --precision, "
        "--parallel, and what answers",
        twin.tpot_error_after * 100, twin.ttft_error_after * 100, kWarnAbove * 100));
  }
  return exit_code(worst_median(twin) > kUselessAbove ? ExitCode::findings : ExitCode::done);
}

}  // namespace assay::cli
