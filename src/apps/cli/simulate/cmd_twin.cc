#include "apps/cli/commands.h"
#include "apps/cli/console.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/simulate/simulate_words.h"
#include "base/files.h"
#include "base/format.h"
#include "sim/twin.h"

namespace assay::cli {
namespace {

Json fit_json(const sim::ClusterSpec& spec, const sim::Twin& twin, const Json& curve,
              const std::string& provenance, const std::string& file) {
  Json factors;
  for (std::size_t i = 0; i < sim::Twin::kFactors; ++i) {
    factors.set(sim::twin_constants()[i], twin.factors[i]);
  }
  // `assay import` puts the twin beside the curve that it was fitted to.
  Json fitted_to = Json::object();
  for (const char* key : {"curve_id", "model"}) {
    if (!curve[key].as_string().empty()) fitted_to.set(key, curve[key].as_string());
  }
  Json points = Json::array();
  for (const sim::SimPoint& point : twin.points) points.push_back(point_json(point));
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
      .set("points", std::move(points));
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
  flags.example("assay twin curves/m/curve_summary.json --model gpt-oss-120b --hardware h200-sxm");
  flags.example(
      "assay twin curve.json --model llama3.1-70b --hardware h200-sxm --precision fp8 "
      "--parallel tp=4 --isl uniform:819-1024 --osl uniform:819-1024");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  if (std::filesystem::is_directory(curve)) {
    curve = (std::filesystem::path(curve) / "curve_summary.json").string();
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(curve, std::size_t{64} << 20));
  const auto parsed = Json::parse(text);
  if (!parsed) return parsed.error().within(curve);
  const auto measured = sim::read_measured(*parsed);
  if (!measured) return measured.error().within(curve);
  ASSIGN_OR_RETURN(const sim::Catalogue catalogue, system.read_catalogue());
  ASSIGN_OR_RETURN(const sim::Scenario scenario, system.resolve());
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, scenario));
  ASSIGN_OR_RETURN(const sim::Workload workload, system.workload());
  if (measured->size() < 6) {
    say(format("{} points: below six the five constants can not be told apart", measured->size()));
  }

  const sim::Twin twin = sim::fit_twin(spec, workload, *measured);
  const std::string provenance = format("fitted to {} points of {}", measured->size(), curve);
  TRY(write_file_atomic(out, sim::twin_yaml(spec, twin, provenance)));
  if (json) {
    print(fit_json(spec, twin, *parsed, provenance, out).dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  std::string shown =
      format("simulated  {}, fitted to {} points\n\n", sim::describe(spec), measured->size());
  for (std::size_t i = 0; i < sim::Twin::kFactors; ++i) {
    shown += format("  {:<18} x {:.3f}\n", sim::twin_constants()[i], twin.factors[i]);
  }
  shown +=
      format("\n  median error  TPOT {:.1f} % -> {:.1f} %   TTFT {:.1f} % -> {:.1f} %\n\n{}",
             twin.tpot_error_before * 100, twin.tpot_error_after * 100,
             twin.ttft_error_before * 100, twin.ttft_error_after * 100, points_table(twin.points));
  print(shown);
  say(format("saved to {}; next: assay simulate --catalogue {} …", out, out));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
