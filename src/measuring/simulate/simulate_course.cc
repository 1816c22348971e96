#include "simulate/simulate_course.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/text.h"
#include "report/curve_html.h"
#include "report/simulated.h"
#include "sim/model_config.h"
#include "sim/sizing.h"
#include "sim/stages.h"
#include "simulate/layout_choice.h"
#include "simulate/load_course.h"

namespace assay::simulate {
namespace {

// Reports a point at which nothing was served, since zeros would look like a result.
Result<void> check_served(const report::SimulatedCurve& curve, const Talk& talk) {
  std::string empty;
  for (const sim::SimPoint& point : curve.points) {
    if (point.refused == 0) continue;
    if (point.queries > 0) {
      talk.say(
          format("note: at {} {} of {} queries were refused: their prompts fit no worker's memory",
                 three_digits(point.rate > 0 ? point.rate : point.concurrency), point.refused,
                 point.refused + point.queries));
    } else {
      empty = curve.system;
    }
  }
  if (empty.empty()) return {};
  return invalid(
      format("--isl, --osl: no query was served: {} fit no worker's memory of {}\n  shorter ones, "
             "more accelerators (--gpus, --parallel) or a smaller --precision",
             curve.lengths, empty));
}

// The load says itself how long its prompts are, and how many are asked.
Result<void> check_load_alone(const SimulationOptions& o) {
  for (const char* const name :
       {"--concurrency", "--rate", "--queries", "--isl", "--osl", "--shared-prefix", "--plan",
        "--compare", "--html", "--turn-around", "--workload", "--explain"}) {
    if (o.given.contains(name)) return invalid(format("{}: --load has a load of its own", name));
  }
  return {};
}

// A suite's scenario says itself what is asked, and its limits.
Result<void> check_suite_alone(const SimulationOptions& o) {
  for (const char* const name : {"--concurrency", "--rate", "--queries", "--shared-prefix",
                                 "--plan", "--compare", "--html", "--turn-around", "--price"}) {
    if (o.given.contains(name)) {
      return invalid(format("{}: --workload says what is asked; without it {} counts", name, name));
    }
  }
  if (o.system.scenario.hardware.find(',') != std::string::npos) {
    return invalid("--hardware: one card with --workload; ask for each in turn");
  }
  return {};
}

// A sweep ends two levels behind its peak.
bool past_peak(const SimulationOptions& o, const std::vector<sim::SimPoint>& points) {
  constexpr double kGain = 1.03;
  const std::size_t n = points.size();
  return o.concurrency == kSweep && n > 2 && points[n - 1].qps < kGain * points[n - 2].qps &&
         points[n - 2].qps < kGain * points[n - 3].qps;
}

// A scenario's file is what `assay endpoint` serves: it keeps its layout.
Result<LayoutChoice> layout_for(const SimulationOptions& o, const sim::Catalogue& catalogue,
                                const sim::Scenario& scenario, const sim::Workload& workload) {
  if (!o.system.file.empty()) return LayoutChoice{scenario, {}};
  std::vector<std::uint32_t> levels;
  if (!o.rate && o.concurrency != kSweep) {
    ASSIGN_OR_RETURN(levels, concurrency_levels(o.concurrency));
  }
  return choose_layout(catalogue, scenario, workload, levels);
}

Result<report::SimulatedCurve> simulate_curve(const SimulationOptions& o,
                                              const sim::ClusterSpec& spec,
                                              const sim::Catalogue& catalogue,
                                              const sim::Workload& workload, const Talk& talk) {
  sim::SimulateOptions how;
  if (o.queries) {
    if (*o.queries < 1) return invalid("--queries: at least 1");
    how.queries_per_slot =
        static_cast<std::uint32_t>(std::min<std::int64_t>(*o.queries, 1'000'000));
    how.queries_min = 0;
    how.alike_once = false;
  }
  how.seed = static_cast<std::uint64_t>(o.system.seed);
  if (o.turn_around < Duration{}) return invalid("--turn-around: must not be below 0");
  how.turn_around = o.turn_around;
  report::SimulatedCurve out{.system = sim::describe(spec),
                             .kv_cache = spec.deployment.kv_format(),
                             .lengths = o.system.lengths_text(catalogue)};
  if (o.rate) {
    if (!(*o.rate > 0)) return invalid("--rate: must be above 0");
    const std::uint64_t least = std::uint64_t{how.queries_per_slot} * 1000;
    out.points.push_back(o.queries ? sim::simulate_open(spec, workload, *o.rate, least, how)
                                   : sim::simulate_open_long(spec, workload, *o.rate, least, how));
    TRY(check_served(out, talk));
    return out;
  }
  ASSIGN_OR_RETURN(const auto wanted, concurrency_levels(o.concurrency));
  for (const std::uint32_t c : wanted) {
    if (past_peak(o, out.points)) break;
    if (sim::queries_computed(spec, workload, c, how) > sim::kQueriesMax) {
      if (o.concurrency == kSweep) break;
      return invalid(format(
          "--concurrency: {} takes {} queries for each, {} in all, above {}{}", with_thousands(c),
          how.queries_per_slot, with_thousands(std::int64_t{how.queries_per_slot} * c),
          with_thousands(sim::kQueriesMax), o.queries ? "; a smaller --queries" : ""));
    }
    out.points.push_back(sim::simulate_closed(spec, workload, c, how));
  }
  TRY(check_served(out, talk));
  return out;
}

Result<void> write_simulated_page(const SimulationOptions& o, const report::SimulatedCurve& curve,
                                  const sim::ClusterSpec& spec, const std::string& calibration,
                                  const Talk& talk) {
  report::CurveOptions options;
  if (o.price > 0) options.price_per_hour = o.price * spec.gpus();
  TRY(write_file_atomic(
      o.html, report::curve_html(report::to_curve(curve, spec.deployment.model.name, calibration),
                                 options)));
  talk.say(format("written: {}", o.html));
  return {};
}

// Those whose estimate within the limit on TPOT leads; one replica of each may have any size.
std::vector<sim::Scenario> layouts_to_size(const sim::Catalogue& catalogue,
                                           const sim::Scenario& scenario,
                                           const sim::Workload& workload, const sim::Slo& slo) {
  constexpr std::size_t kSized = 12;
  sim::Scenario any = scenario;
  any.gpus = 0;
  return sim::leading_within(catalogue, sim::layouts_of(catalogue, any, true), workload,
                             slo.tpot_s(), kSized);
}

// The number of accelerators and their split: every layout that fits, or the given one; the fewest
// accelerators first.
Result<std::vector<sim::Sizing>> size_layouts(const SimulationOptions& o,
                                              const sim::Catalogue& catalogue,
                                              const sim::Scenario& scenario,
                                              const sim::Workload& workload) {
  ASSIGN_OR_RETURN(const sim::Slo slo, sim::parse_slo(o.plan));
  if (!o.rate || !(*o.rate > 0)) return invalid("--plan: needs --rate, queries a second");
  sim::SizingOptions options;
  options.price_per_gpu_hour = o.price;
  std::vector<sim::Scenario> layouts = {scenario};
  if (scenario.parallel.empty() && scenario.disagg.empty()) {
    layouts = layouts_to_size(catalogue, scenario, workload, slo);
    if (layouts.empty()) {
      // The reason why the simplest layout does not fit.
      sim::Scenario one = scenario;
      one.gpus = 0;
      one.parallel = "tp=8";
      const auto spec = sim::make_cluster_spec(catalogue, one);
      return invalid(format("--plan: no layout of {} that is tried fits {}{}", scenario.model,
                            scenario.hardware, spec ? "" : "; " + spec.error().message));
    }
  }
  std::vector<sim::Sizing> sized;
  for (const sim::Scenario& layout : layouts) {
    ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, layout));
    sized.push_back(sim::size_for(spec, workload, slo, *o.rate, options));
  }
  std::stable_sort(sized.begin(), sized.end(), [](const sim::Sizing& a, const sim::Sizing& b) {
    return (a.gpus == 0 ? 1e9 : a.gpus) < (b.gpus == 0 ? 1e9 : b.gpus);
  });
  return sized;
}

// `several`: the best layout of each card of a list.
Result<int> plan_deployment(const SimulationOptions& o, const sim::Catalogue& catalogue,
                            const std::vector<sim::Scenario>& several,
                            const sim::Workload& workload, const Talk& talk) {
  std::vector<sim::Sizing> sized;
  for (const sim::Scenario& scenario : several) {
    ASSIGN_OR_RETURN(std::vector<sim::Sizing> layouts,
                     size_layouts(o, catalogue, scenario, workload));
    if (several.size() > 1) layouts.resize(1);
    for (sim::Sizing& layout : layouts) sized.push_back(std::move(layout));
  }
  if (o.json) {
    Json out;
    out.set("kind", "simulated").set("rate", *o.rate).set("limits", o.plan);
    talk.print(out.set("layouts", json_list(sized, report::sizing_json)).dump(2) + "\n");
  } else {
    talk.print(report::sizing_text(*o.rate, o.plan, o.system.lengths_text(catalogue), sized));
  }
  const bool found = std::any_of(sized.begin(), sized.end(),
                                 [](const sim::Sizing& s) { return s.replica_qps > 0; });
  return exit_code(found ? ExitCode::done : ExitCode::findings);
}

Result<int> compare_simulated(const SimulationOptions& o, const sim::Catalogue& catalogue,
                              const report::SimulatedCurve& ours, const sim::Workload& workload,
                              const Talk& talk) {
  ASSIGN_OR_RETURN(const sim::Scenario other, sim::read_scenario_file(o.compare));
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, other));
  SimulationOptions same = o;  // a sweep ends at ours
  if (!o.rate) {
    same.concurrency.clear();
    for (const sim::SimPoint& point : ours.points) {
      same.concurrency += format("{}{}", same.concurrency.empty() ? "" : ",",
                                 static_cast<std::uint32_t>(point.concurrency));
    }
  }
  ASSIGN_OR_RETURN(const report::SimulatedCurve theirs,
                   simulate_curve(same, spec, catalogue, workload, talk));
  if (o.json) {
    Json out;
    out.set("kind", "simulated")
        .set("a", report::simulated_json(ours))
        .set("b", report::simulated_json(theirs));
    talk.print(out.dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  talk.print(report::simulated_beside_text(ours, theirs));
  return exit_code(ExitCode::done);
}

// Several cards at the same load. One that the model does not fit is named and left out.
Result<int> simulate_beside(const SimulationOptions& o, const sim::Catalogue& catalogue,
                            const std::vector<sim::Scenario>& several,
                            const sim::Workload& workload, const Talk& talk) {
  if (!o.html.empty()) return invalid("--html: of one card; --hardware lists several");
  if (!o.compare.empty()) return invalid("--compare: with one card; --hardware lists several");
  std::vector<report::SimulatedCurve> curves;
  std::string refused;
  for (const sim::Scenario& scenario : several) {
    const auto laid_out = layout_for(o, catalogue, scenario, workload);
    if (!laid_out) {
      talk.say(format("note: {} is left out: {}", scenario.hardware, laid_out.error().message));
      refused = laid_out.error().message;
      continue;
    }
    ASSIGN_OR_RETURN(const sim::ClusterSpec spec,
                     sim::make_cluster_spec(catalogue, laid_out->scenario));
    ASSIGN_OR_RETURN(report::SimulatedCurve curve,
                     simulate_curve(o, spec, catalogue, workload, talk));
    curve.hardware = spec.deployment.hardware.name;
    curve.tried = laid_out->tried;
    curves.push_back(std::move(curve));
  }
  if (curves.empty()) return invalid(refused);
  if (o.json) {
    Json list = Json::array();
    for (const report::SimulatedCurve& curve : curves) {
      list.push_back(report::simulated_json(curve).set("hardware", curve.hardware));
    }
    Json out;
    out.set("kind", "simulated").set("calibration", catalogue.calibration().provenance);
    talk.print(out.set("systems", std::move(list)).dump(2) + "\n");
  } else {
    talk.print(report::cards_text(curves, o.price));
  }
  return exit_code(ExitCode::done);
}

// The scenario once for each card of its list.
Result<std::vector<sim::Scenario>> one_a_card(const sim::Catalogue& catalogue,
                                              const sim::Scenario& scenario) {
  std::vector<sim::Scenario> out;
  for (const std::string_view name : split(scenario.hardware, ',')) {
    ASSIGN_OR_RETURN(const sim::HardwareSpec card, catalogue.hardware(trim(name)));
    out.push_back(scenario);
    out.back().hardware = card.name;
  }
  return out;
}

// For models that are queues of timed stages: one latency, no tokens.
Result<std::vector<sim::SimPoint>> stage_points(const SimulationOptions& o,
                                                const sim::ModelSpec& model,
                                                const sim::HardwareSpec& hardware, unsigned gpus,
                                                std::uint64_t seed) {
  std::vector<sim::SimPoint> out;
  if (o.rate) {
    if (!(*o.rate > 0)) return invalid("--rate: must be above 0");
    const auto queries =
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(o.queries.value_or(10), 1, 1000));
    out.push_back(sim::simulate_stages(model, hardware, gpus, *o.rate, queries * 10'000, seed));
    return out;
  }
  ASSIGN_OR_RETURN(const auto levels, concurrency_levels(o.concurrency));
  for (const std::uint32_t c : levels) {
    if (past_peak(o, out)) break;
    out.push_back(sim::simulate_stages_closed(model, hardware, gpus, c, seed));
  }
  return out;
}

Result<int> show_stages(const SimulationOptions& o, const sim::ModelSpec& model,
                        const sim::Catalogue& catalogue, const sim::Scenario& scenario,
                        const Talk& talk) {
  ASSIGN_OR_RETURN(const sim::HardwareSpec hardware, catalogue.hardware(scenario.hardware));
  if (!o.plan.empty()) return invalid(format("--plan: {} makes no tokens", model.name));
  if (!o.html.empty()) return invalid(format("--html: {} makes no tokens", model.name));
  const unsigned gpus = std::max(1U, scenario.gpus);
  ASSIGN_OR_RETURN(const auto points, stage_points(o, model, hardware, gpus, scenario.seed));
  const double capacity = sim::stage_capacity(model, hardware, gpus);
  if (o.json) {
    Json out;
    out.set("kind", "simulated").set("capacity_qps", capacity);
    talk.print(out.set("points", json_list(points, report::point_json)).dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  talk.print(report::stage_table(model.name, gpus, hardware.name, capacity, points));
  return exit_code(ExitCode::done);
}

// A config.json is read as a shape; its sums show whether it was read as it is meant.
void say_how_read(const sim::ModelSpec& model, const std::string& file, const Talk& talk) {
  if (!sim::is_model_config_path(file)) return;
  talk.say(format("note: {}: {} billion parameters, {} of them active a token", model.name,
                  three_digits(model.total_weights() * 1e-9),
                  three_digits(model.active_weights() * 1e-9)));
  for (const std::string& one : model.assumed) {
    talk.say(format("note: {} is not in {}: it is the default of its family", one, file));
  }
}

}  // namespace

Result<int> run_simulation(SimulationOptions& o, const Talk& talk) {
  if (o.price < 0) return invalid("--price: must not be below 0");
  ASSIGN_OR_RETURN(const sim::Catalogue catalogue, o.system.read_catalogue());
  if (!o.list.empty()) {
    ASSIGN_OR_RETURN(const std::string names, report::catalogue_names(catalogue, o.list));
    talk.print(names);
    return exit_code(ExitCode::done);
  }
  if (!o.suite.workload.empty() && o.load.empty()) {
    TRY(check_suite_alone(o));
    o.suite.json = o.json;
    return simulate_suite(o.suite, o.system, talk);
  }
  if (!o.load.empty()) {
    TRY(check_load_alone(o));
    return simulate_load(o.load, o.system, catalogue, o.json, talk);
  }
  if (!o.suite.explain.empty()) return invalid("--explain: needs --workload");
  if (!o.suite.edition.empty()) return invalid("--edition: needs --workload");
  ASSIGN_OR_RETURN(const sim::Scenario scenario, o.system.resolve());
  ASSIGN_OR_RETURN(const sim::ModelSpec model, catalogue.model(scenario.model));
  say_how_read(model, scenario.model, talk);
  ASSIGN_OR_RETURN(const auto several, one_a_card(catalogue, scenario));
  if (model.is_stages()) return show_stages(o, model, catalogue, scenario, talk);
  ASSIGN_OR_RETURN(const sim::Workload workload, o.system.workload(catalogue));
  if (!o.plan.empty()) return plan_deployment(o, catalogue, several, workload, talk);
  if (several.size() > 1) return simulate_beside(o, catalogue, several, workload, talk);
  ASSIGN_OR_RETURN(const LayoutChoice laid_out, layout_for(o, catalogue, scenario, workload));
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec,
                   sim::make_cluster_spec(catalogue, laid_out.scenario));
  ASSIGN_OR_RETURN(report::SimulatedCurve curve,
                   simulate_curve(o, spec, catalogue, workload, talk));
  curve.tried = laid_out.tried;
  if (!o.html.empty()) {
    TRY(write_simulated_page(o, curve, spec, catalogue.calibration().provenance, talk));
  }
  if (!o.compare.empty()) return compare_simulated(o, catalogue, curve, workload, talk);
  if (o.json) {
    Json out;
    out.set("kind", "simulated").set("calibration", catalogue.calibration().provenance);
    const Json body = report::simulated_json(curve);
    for (const auto& [key, value] : body.members()) out.set(key, value);
    talk.print(out.dump(2) + "\n");
  } else {
    talk.print(report::simulated_text(curve));
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::simulate
