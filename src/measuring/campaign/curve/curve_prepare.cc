#include "campaign/curve/curve_prepare.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/version.h"
#include "plan/resolve.h"
#include "plan/saved_config.h"

namespace assay::campaign {
namespace {

// The highest C_max that a quick curve searches, in the form of c_max_range.
constexpr std::uint64_t kQuickSearch = 128;
constexpr std::uint64_t kAuditSamples = 256;
constexpr std::uint64_t kAuditQuick = 64;

Result<std::vector<std::int64_t>> parse_curve_levels(const std::string& text) {
  std::vector<std::int64_t> out;
  if (text.empty()) return out;
  for (const std::string_view part : split(text, ',')) {
    const auto level = parse_int(trim(part));
    if (!level || *level < 1) {
      return invalid(format("--concurrency: '{}': numbers from 1 up, with commas between", text));
    }
    out.push_back(*level);
  }
  return out;
}

bool has_accuracy(const plan::Config& config) {
  for (const plan::DatasetConfig& data : config.datasets) {
    if (data.type == plan::DatasetType::accuracy && plan::wants(config, data)) return true;
  }
  return false;
}

Json datasets_json(const std::vector<Dataset>& datasets) {
  Json out = Json::array();
  for (const Dataset& dataset : datasets) {
    out.push_back(
        Json().set("name", dataset.name).set("rows", dataset.rows()).set("sha256", dataset.sha256));
  }
  return out;
}

// Loads the settings that all points share: the curve's seeds, salted prompts, streams.
Result<plan::LoadedConfig> load_config(const LoadSettings& load, const CurveOptions& options) {
  std::vector<std::pair<std::string, std::string>> decided{{"--concurrency", "1"}};
  if (options.no_accuracy) decided.emplace_back("--mode", "perf");
  return load("", decided);
}

void set_seeds(plan::Config& config, const plan::CurveSeeds& seeds) {
  plan::Runtime& runtime = config.settings.runtime;
  runtime.scheduler_random_seed = seeds.scheduler_rng_seed;
  runtime.dataloader_random_seed = seeds.sample_index_rng_seed;
  config.settings.warmup.warmup_random_seed = seeds.sample_index_rng_seed;
}

// A quick curve's synthetic prompts: few, so that several passes take seconds, and more than C_max,
// so that Offline can be a separate run.
void shorten_synthetic(plan::Config& config, const CurveOptions& options) {
  if (!options.quick || (!options.c_max && !options.levels.empty())) return;
  const std::uint64_t most = options.c_max.value_or(kQuickSearch);
  for (plan::DatasetConfig& data : config.datasets) {
    if (!data.synthetic || data.synthetic->count) continue;
    data.synthetic->count = static_cast<std::uint32_t>(std::max<std::uint64_t>(64, most * 3 / 2));
  }
}

Result<plan::CurveWish> wish_of(const PreparedCurve& prepared, const CurveOptions& options) {
  plan::CurveWish wish;
  for (std::size_t i = 0, next = 0; i < prepared.config.datasets.size(); ++i) {
    const plan::DatasetConfig& data = prepared.config.datasets[i];
    if (!plan::wants(prepared.config, data)) continue;
    if (data.type == plan::DatasetType::performance) wish.rows = prepared.datasets[next].rows();
    ++next;
  }
  ASSIGN_OR_RETURN(wish.levels, parse_curve_levels(options.levels));
  wish.c_max = static_cast<std::int64_t>(options.c_max.value_or(0));
  wish.c_min = static_cast<std::int64_t>(options.c_min);
  wish.spare = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      options.spare.value_or(options.quick ? 0 : 1), plan::kCurvePointsMax));
  if (options.offline != "auto") wish.offline = plan::offline_named(options.offline);
  wish.quick = options.quick;
  wish.accuracy = has_accuracy(prepared.config) && !options.no_accuracy;
  return wish;
}

// Without a C_max and levels, the curve finds C_max first and derives the points from it.
Result<void> make_plan_or_search(const plan::CurveWish& wish, CurveSettings& settings) {
  if (wish.c_max > 0 || !wish.levels.empty()) {
    ASSIGN_OR_RETURN(settings.plan, plan::plan_curve(wish));
    return {};
  }
  ASSIGN_OR_RETURN(settings.plan, plan::plan_search(wish));
  settings.search = CurveSearch{.wish = wish, .range = plan::c_max_range(wish)};
  return {};
}

// For a curve that searches for its C_max, compares the searches; the plan follows from them.
bool same_plan(const CurveSettings& a, const CurveSettings& b) {
  if (a.search.has_value() != b.search.has_value()) return false;
  if (!a.search) return a.plan.to_json() == b.plan.to_json();
  return a.search->wish.to_json().dump() == b.search->wish.to_json().dump() &&
         a.search->range.most == b.search->range.most;
}

}  // namespace

const std::set<std::string>& decided_by_curve() {
  static const std::set<std::string> kNames{"--concurrency",   "--target-concurrency",
                                            "--rate",          "--target-qps",
                                            "--load-pattern",  "--burstiness",
                                            "--ramp",          "--samples",
                                            "--num-samples",   "--passes",
                                            "--duration",      "--min-duration",
                                            "--warmup",        "--warmup-salt",
                                            "--warmup-drain",  "--mode",
                                            "--accuracy-only", "--run-seed"};
  return kNames;
}

Result<std::filesystem::path> choose_curve_folder(const std::string& wanted) {
  if (!wanted.empty()) return std::filesystem::path(wanted);
  const std::filesystem::path base = "curves/" + compact_stamp(wall_now());
  std::filesystem::path folder = base;
  for (int i = 2; std::filesystem::exists(folder); ++i) {
    folder = format("{}_{}", base.string(), i);
  }
  return folder;
}

Result<Json> audit_wish(const CurveOptions& options, const plan::CurvePlan& plan) {
  if (!options.audit && !options.audit_only) return Json();
  if (!(options.audit_threshold > 0 && options.audit_threshold < 1)) {
    return invalid("--audit-threshold: above 0 and below 1, as 0.1");
  }
  if (options.audit_row >= plan.rows) {
    return invalid(
        format("--audit-row: {}: the dataset has rows 0 to {}", options.audit_row, plan.rows - 1));
  }
  if (options.audit_samples > plan.rows) {
    return invalid(
        format("--audit-samples: {}: each phase asks distinct rows, and the dataset has "
               "{}",
               options.audit_samples, plan.rows));
  }
  const std::uint64_t most = options.quick ? kAuditQuick : kAuditSamples;
  const std::uint64_t samples =
      options.audit_samples > 0 ? options.audit_samples : std::min(plan.rows, most);
  // The top of Ultra Low: busy, and below the level where queueing hides the effect of a cache.
  const std::int64_t level =
      plan.c_max > 0 ? std::min(plan.c_max, rulebook::kUltraLowMax) : rulebook::kUltraLowMax;
  return Json()
      .set("samples", samples)
      .set("sample_index", options.audit_row)
      .set("threshold", options.audit_threshold)
      .set("concurrency", std::min(level, static_cast<std::int64_t>(samples)));
}

namespace {

// The curve uses the config's audit block unless a flag overrides it.
CurveOptions with_audit_of(const plan::Config& config, CurveOptions options) {
  if (!config.audit || options.audit || options.audit_only) return options;
  options.audit = true;
  options.audit_samples = config.audit->samples;
  options.audit_row = config.audit->sample_index;
  options.audit_threshold = config.audit->threshold;
  return options;
}

Result<Json> audit_of(const CurveOptions& options, const plan::Config& config,
                      const plan::CurvePlan& plan) {
  if (config.audit && config.audit->only && !options.audit_only) {
    return invalid("audit.only: a curve's audit without the curve is --audit-only");
  }
  ASSIGN_OR_RETURN(Json wish, audit_wish(with_audit_of(config, options), plan));
  const bool from_flags = options.audit || options.audit_only;
  if (config.audit && config.audit->audit_samples && !from_flags) {
    wish.set("audit_samples", *config.audit->audit_samples);
  }
  return wish;
}

}  // namespace

Result<PreparedCurve> prepare_curve(const LoadSettings& load, const CurveOptions& options) {
  PreparedCurve out;
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, load_config(load, options));
  out.config = std::move(loaded.config);
  out.notes = std::move(loaded.notes);
  shorten_synthetic(out.config, options);
  if (!plan::wants(out.config, plan::DatasetType::performance)) {
    return invalid(
        "a curve needs a performance dataset: --dataset FILE, or none for synthetic ones");
  }
  if (out.config.settings.load_pattern.type == plan::Pattern::agentic_inference) {
    return Error{
        Code::unsupported,
        "settings.load_pattern.type: agentic_inference: a curve of conversations is not "
        "planned: a level is conversations in flight, each replays whole trajectories and "
        "has neither a steady window nor an Offline point, so what a level lasts and where "
        "the next one goes follow from nothing here\n  measure seven levels, with one or "
        "more in each region of assay regions C_MAX: assay run --config FILE "
        "--concurrency N --report-dir DIR/rN; then assay report each of them"};
  }
  ASSIGN_OR_RETURN(out.datasets, plan::load_datasets(out.config));
  CurveSettings& settings = out.settings;
  ASSIGN_OR_RETURN(const plan::CurveWish wish, wish_of(out, options));
  TRY(make_plan_or_search(wish, settings));
  if (const std::string_view unit = plan::unit_of(out.config.endpoint_config); !unit.empty()) {
    settings.plan.official = false;
    settings.plan.notes.push_back(
        format("the rules know curves of tokens only: this one is of {0}s a second over latency "
               "P90, gated by latency P90 and the completion rate",
               unit));
  }
  if (!wish.accuracy) {
    settings.plan.official = false;
    settings.plan.notes.emplace_back(
        "no accuracy dataset is asked (--dataset acc:FILE): not a curve by the rules");
  }
  ASSIGN_OR_RETURN(const rulebook::Edition edition, rulebook::edition_named(options.rules));
  std::string note;
  ASSIGN_OR_RETURN(settings.seeds,
                   plan::bind_seeds(edition, options.seed_set, options.cohort, wall_now(), note));
  if (!note.empty()) settings.plan.notes.push_back(note);
  set_seeds(out.config, settings.seeds);
  settings.edition = edition.name;
  ASSIGN_OR_RETURN(settings.audit, audit_of(options, out.config, settings.plan));
  out.config.audit.reset();
  settings.version = version();
  settings.started = rfc3339(wall_now());
  settings.model = out.config.model_params.name;
  if (!options.precision.empty() && !is_plain_id(options.precision)) {
    return invalid(format("--precision: '{}': expected a name such as bf16, fp8 or nvfp4: {}",
                          options.precision, kPlainId));
  }
  settings.precision = options.precision;
  settings.endpoint = out.config.endpoint_config.endpoints.empty()
                          ? std::string()
                          : plan::redact_url(out.config.endpoint_config.endpoints[0]);
  settings.datasets = datasets_json(out.datasets);
  settings.config = plan::config_to_yaml(out.config);
  settings.id =
      sha256_hex(format("{} {} {}", settings.config, settings.started, ::getpid())).substr(0, 32);
  return out;
}

Result<PreparedCurve> prepare_resumed(const LoadSettings& load, const CurveFolder& folder) {
  PreparedCurve out;
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, load((folder.path() / "config.yaml").string(), {}));
  out.config = std::move(loaded.config);
  out.settings = folder.settings();
  set_seeds(out.config, out.settings.seeds);
  ASSIGN_OR_RETURN(out.datasets, plan::load_datasets(out.config));
  // Compares text: a number read from JSON has another type than a computed one.
  if (datasets_json(out.datasets).dump() != out.settings.datasets.dump()) {
    return invalid(
        format("{}: the datasets are not those that the curve began with; put the old "
               "files back, or begin another curve",
               folder.path().string()));
  }
  return out;
}

Result<CurveFolder> open_curve_folder(const std::filesystem::path& path,
                                      const CurveSettings& settings) {
  if (!CurveFolder::is_curve(path)) return CurveFolder::create(path, settings);
  ASSIGN_OR_RETURN(CurveFolder folder, CurveFolder::resume(path));
  const CurveSettings& there = folder.settings();
  if (there.config != settings.config || there.precision != settings.precision ||
      !same_plan(there, settings) || there.datasets.dump() != settings.datasets.dump()) {
    return invalid(
        format("--report-dir: '{}' holds a curve with other settings\n"
               "  name another folder, or go on with that one: assay curve --resume {}",
               path.string(), path.string()));
  }
  return folder;
}

}  // namespace assay::campaign
