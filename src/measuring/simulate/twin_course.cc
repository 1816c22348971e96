#include "simulate/twin_course.h"

#include <algorithm>
#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "report/twin.h"

namespace assay::simulate {
namespace {

constexpr double kWarnAbove = 0.2;
// Above this error the twin does not match its system: the command fails.
constexpr double kUselessAbove = 0.5;

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
void read_runs(Measured& out, const std::filesystem::path& folder) {
  std::size_t next = 0;
  for (const Json& item : out.curve["points"].items()) {
    if (!item["measured"].as_bool(true) || item["offline"].as_string() == "dedicated") continue;
    sim::MeasuredPoint& point = out.points[next++];
    const std::filesystem::path file = folder / "points" / std::string(item["name"].as_string()) /
                                       "performance/result_summary.json";
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
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "curve_summary.json";
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
Result<sim::MeasuredLoad> load_of(const SystemWords& system, const Measured& measured,
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

// The changed systems, each beside the curve. A layout that no flag named stays as it was worked
// out for the system as it is: another card is another worker, not a wider one.
Result<void> ask_what_ifs(report::TwinAnswer& answer, const sim::Catalogue& catalogue,
                          sim::Scenario scenario, const sim::ClusterSpec& now) {
  if (scenario.parallel.empty() && scenario.disagg.empty()) {
    scenario.parallel = sim::to_string(now.deployment.parallelism);
  }
  const sim::Workload workload = sim::workload_of(answer.load);
  for (const std::string& changes : answer.changes) {
    auto changed = sim::changed_scenario(scenario, changes);
    if (!changed) return changed.error().within("--what-if");
    auto spec = sim::make_cluster_spec(catalogue, *changed);
    if (!spec) return spec.error().within(format("--what-if {}", changes));
    answer.what_ifs.push_back(sim::ask_what_if(*spec, workload, answer.measured, answer.twin));
  }
  return {};
}

// `assay import` shows the twin beside the curve that it was fitted to.
Json fitted_to(const Json& curve) {
  Json out = Json::object();
  for (const char* key : {"curve_id", "model"}) {
    if (!curve[key].as_string().empty()) out.set(key, curve[key].as_string());
  }
  return out;
}

void warn_of(const sim::Twin& twin, const Talk& talk) {
  if (twin.points.size() < 6) {
    talk.say(format("{} points: below six the five constants can not be told apart",
                    twin.points.size()));
  }
  if (worst_median(twin) <= kWarnAbove) return;
  talk.say(format(
      "warning: the median error is {:.0f} % in TPOT and {:.0f} % in TTFT, above {:.0f} %: this "
      "model is not your system; check --model, --hardware, --backend, --precision, --parallel, "
      "and what answers",
      twin.tpot_error_after * 100, twin.ttft_error_after * 100, kWarnAbove * 100));
}

}  // namespace

Result<int> make_twin(TwinAsked asked, const Talk& talk) {
  const SystemWords& system = asked.system;
  report::TwinAnswer& answer = asked.answer;
  ASSIGN_OR_RETURN(Measured measured, read_curve(answer.curve));
  ASSIGN_OR_RETURN(const sim::Catalogue catalogue, system.read_catalogue());
  ASSIGN_OR_RETURN(const sim::Scenario scenario, system.resolve());
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, scenario));
  ASSIGN_OR_RETURN(answer.load, load_of(system, measured, catalogue, answer.curve));
  const sim::Workload workload = sim::workload_of(answer.load);
  answer.system = sim::describe(spec);
  answer.measured = std::move(measured.points);
  sim::Twin& twin = answer.twin;
  twin = sim::fit_twin(spec, workload, answer.measured);
  sim::judge_held_out(spec, workload, answer.measured, twin);
  answer.causes = sim::causes_of(spec, workload, answer.measured, twin);
  TRY(ask_what_ifs(answer, catalogue, scenario, spec));
  const sim::Trust trust = sim::trust_of({sim::twin_family(spec, twin)}, spec.deployment.subject(),
                                         spec.prefill.has_value());
  for (sim::SimPoint& point : twin.points) point.trust = trust;
  answer.provenance = report::twin_provenance(answer);
  TRY(write_file_atomic(asked.out, sim::twin_yaml(spec, twin, answer.load, answer.provenance)));
  if (!asked.html.empty()) {
    TRY(write_file_atomic(asked.html, report::twin_html(answer)));
    talk.say(format("written: {}", asked.html));
  }
  if (asked.json) {
    talk.print(report::twin_json(answer)
                   .set("file", asked.out)
                   .set("fitted_to", fitted_to(measured.curve))
                   .set("good", worst_median(twin) <= kWarnAbove)
                   .dump(2) +
               "\n");
  } else {
    talk.print(report::twin_text(answer));
    talk.say(format("saved to {}; next: assay simulate --catalogue {} …", asked.out, asked.out));
  }
  warn_of(twin, talk);
  return exit_code(worst_median(twin) > kUselessAbove ? ExitCode::findings : ExitCode::done);
}

}  // namespace assay::simulate
