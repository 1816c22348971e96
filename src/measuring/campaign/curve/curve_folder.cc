#include "campaign/curve/curve_folder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json_list.h"
#include "record/manifest.h"

namespace assay::campaign {
namespace {

constexpr std::int64_t kVersion = 1;

std::filesystem::path manifest_of(const std::filesystem::path& run) {
  return run / record::kManifestName;
}

// The manifest's digest if the run is complete and every file matches; else "".
std::string complete_run(const std::filesystem::path& run) {
  const auto text = read_file(manifest_of(run));
  if (!text) return {};
  const auto json = Json::parse(*text);
  if (!json || (*json)["end"]["state"].as_string() != to_string(RunState::complete)) return {};
  const auto faults = record::check_manifest(run);
  return faults && faults->empty() ? sha256_hex(*text) : std::string();
}

std::string digest_of(const std::filesystem::path& file) {
  const auto text = read_file(file);
  return text ? sha256_hex(*text) : std::string();
}

Result<CurveSettings> read_settings(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "curve.json";
  ASSIGN_OR_RETURN(const Json json, read_json_file(path));
  auto settings = CurveSettings::from_json(json);
  if (!settings) return settings.error().within(path.string());
  ASSIGN_OR_RETURN(settings->config, read_file(folder / "config.yaml"));
  return *std::move(settings);
}

}  // namespace

Json CurveSettings::to_json() const {
  Json out;
  out.set("format", "assay-curve")
      .set("version", kVersion)
      .set("curve_id", id)
      .set("assay", version)
      .set("started", started)
      .set("edition", edition)
      .set("model", model)
      .set("endpoint", endpoint)
      .set("datasets", datasets)
      .set("seeds", seeds.to_json())
      .set("config_sha256", sha256_hex(config))
      .set("plan", plan.to_json())
      .set("command", json_list(command));
  if (!precision.empty()) out.set("precision", precision);
  if (search) {
    out.set("search", Json()
                          .set("wish", search->wish.to_json())
                          .set("least", search->range.least)
                          .set("most", search->range.most)
                          .set("gain", plan::kWorthwhileGain)
                          .set("tolerance", plan::kSearchTolerance)
                          .set("found", search->found));
  }
  if (!audit.is_null()) out.set("audit", audit);
  return out;
}

Result<CurveSettings> CurveSettings::from_json(const Json& json) {
  if (json["format"].as_string() != "assay-curve" || json["version"].as_int() != kVersion) {
    return Error{
        Code::unsupported,
        format("not a curve that this version reads (format assay-curve, version {})", kVersion)};
  }
  CurveSettings out;
  const auto text = [&json](std::string_view key) { return std::string(json[key].as_string()); };
  out.id = text("curve_id");
  out.version = text("assay");
  out.started = text("started");
  out.edition = text("edition");
  out.model = text("model");
  out.precision = text("precision");
  out.endpoint = text("endpoint");
  out.datasets = json["datasets"];
  out.seeds = plan::CurveSeeds::from_json(json["seeds"]);
  ASSIGN_OR_RETURN(out.plan, plan::CurvePlan::from_json(json["plan"]));
  if (const Json* const search = json.find("search")) {
    out.search.emplace();
    out.search->wish = plan::CurveWish::from_json((*search)["wish"]);
    out.search->range = {(*search)["least"].as_int(), (*search)["most"].as_int()};
    out.search->found = (*search)["found"];
    const plan::CMaxRange& range = out.search->range;
    if (range.least < 1 || range.most < range.least) return invalid("search: least and most");
  }
  if (out.plan.points.empty() && !out.search) return invalid("plan: has no points");
  out.audit = json["audit"];
  for (const Json& argument : json["command"].items()) {
    out.command.emplace_back(argument.as_string());
  }
  return out;
}

bool CurveFolder::is_curve(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "curve.json", ignored);
}

Result<CurveFolder> CurveFolder::create(const std::filesystem::path& folder,
                                        CurveSettings settings) {
  TRY(make_folders(folder));
  CurveFolder out(folder, std::move(settings));
  TRY(write_file_atomic(folder / "config.yaml", out.settings_.config));
  ASSIGN_OR_RETURN(auto journal, record::Journal::open(folder / "journal.jsonl"));
  out.journal_.emplace(std::move(journal));
  // Written last: it makes the folder a curve.
  TRY(write_file_atomic(folder / "curve.json", out.settings_.to_json().dump(2) + "\n"));
  out.fold(out.journal_->entries());
  return out;
}

Result<CurveFolder> CurveFolder::resume(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(CurveSettings settings, read_settings(folder));
  CurveFolder out(folder, std::move(settings));
  ASSIGN_OR_RETURN(auto journal, record::Journal::open(folder / "journal.jsonl"));
  out.journal_.emplace(std::move(journal));
  out.fold(out.journal_->entries());
  for (std::size_t i = 0; i < out.points_.size(); ++i) {
    PointState& point = out.points_[i];
    const std::filesystem::path run = out.point_folder(i);
    if (point.finished && digest_of(manifest_of(run)) == out.manifests_[i]) continue;
    point.finished = false;
    const std::string manifest = complete_run(run);
    if (manifest.empty()) continue;
    ASSIGN_OR_RETURN(const Json summary, read_json_file(run / "performance/result_summary.json"));
    point.finished = true;
    point.qps = summary["qps"].as_double();
    TRY(out.note("adopted", i, Json().set("manifest", manifest).set("qps", point.qps)));
  }
  return out;
}

Result<CurveFolder> CurveFolder::read(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(CurveSettings settings, read_settings(folder));
  CurveFolder out(folder, std::move(settings));
  ASSIGN_OR_RETURN(const auto entries, record::read_journal(folder / "journal.jsonl"));
  out.fold(entries);
  for (std::size_t i = 0; i < out.points_.size(); ++i) {
    if (digest_of(manifest_of(out.point_folder(i))) != out.manifests_[i]) {
      out.points_[i].finished = false;
    }
  }
  return out;
}

void CurveFolder::fold(const std::vector<Json>& entries) {
  manifests_.assign(points_.size(), "");
  searched_.clear();
  for (const Json& entry : entries) {
    if (entry["event"].as_string() == "searched") searched_.push_back(entry["step"]);
    const std::string_view name = entry["point"].as_string();
    const auto found = std::ranges::find(settings_.plan.points, name, &plan::CurvePoint::name);
    if (found == settings_.plan.points.end()) continue;
    const auto at = static_cast<std::size_t>(found - settings_.plan.points.begin());
    PointState& point = points_[at];
    const std::string_view event = entry["event"].as_string();
    if (event == "began") {
      ++point.attempts;
      point.finished = false;
    } else if (event == "finished" || event == "adopted") {
      point.finished = true;
      point.qps = entry["qps"].as_double();
      point.took = Duration::from_seconds(std::clamp(entry["took_s"].as_double(), 0.0, 1e8));
      manifests_[at] = entry["manifest"].as_string();
    }
  }
}

std::filesystem::path CurveFolder::point_folder(std::size_t point) const {
  return folder_ / "points" / settings_.plan.points[point].name;
}

bool CurveFolder::finished() const {
  return !points_.empty() && std::ranges::all_of(points_, &PointState::finished);
}

Result<void> CurveFolder::note(std::string_view event, std::size_t point, Json more) {
  Json entry;
  entry.set("at", rfc3339(wall_now()))
      .set("event", event)
      .set("point", settings_.plan.points[point].name);
  for (const auto& [key, value] : more.members()) entry.set(key, value);
  return journal_->append(entry);
}

// Keeps the record of a run, under a name that no point has.
Result<void> CurveFolder::set_aside(const std::filesystem::path& run, const std::string& name) {
  std::error_code error;
  if (!std::filesystem::exists(run, error)) return {};
  TRY(make_folders(folder_ / "attempts"));
  for (int i = 1;; ++i) {
    const std::filesystem::path to = folder_ / "attempts" / format("{}-{}", name, i);
    if (std::filesystem::exists(to, error)) continue;
    std::filesystem::rename(run, to, error);
    if (error) {
      return Error{Code::io, format("{}: can't be moved to {}: {}", run.string(), to.string(),
                                    error.message())};
    }
    return {};
  }
}

std::filesystem::path CurveFolder::search_folder(std::int64_t level) const {
  return folder_ / "search" / format("r{}", level);
}

Result<std::optional<std::filesystem::path>> CurveFolder::begin_search(std::int64_t level) {
  std::filesystem::path run = search_folder(level);
  if (!complete_run(run).empty()) return std::optional<std::filesystem::path>();
  TRY(set_aside(run, format("search-r{}", level)));
  return std::optional(std::move(run));
}

Result<void> CurveFolder::end_search(const Json& step) {
  TRY(journal_->append(
      Json().set("at", rfc3339(wall_now())).set("event", "searched").set("step", step)));
  searched_.push_back(step);
  return {};
}

Result<void> CurveFolder::decide(plan::CurvePlan plan, Json found) {
  CHECK(settings_.search && settings_.plan.points.empty());
  settings_.plan = std::move(plan);
  settings_.search->found = std::move(found);
  points_.assign(settings_.plan.points.size(), {});
  manifests_.assign(points_.size(), "");
  return write_file_atomic(folder_ / "curve.json", settings_.to_json().dump(2) + "\n");
}

Result<std::optional<std::filesystem::path>> CurveFolder::begin_audit(std::string_view phase) {
  std::filesystem::path run = folder_ / "audit" / phase;
  if (!complete_run(run).empty()) return std::optional<std::filesystem::path>();
  TRY(set_aside(run, format("audit-{}", phase)));
  return std::optional(std::move(run));
}

Result<void> CurveFolder::begin(std::size_t point) {
  TRY(set_aside(point_folder(point), settings_.plan.points[point].name));
  PointState& state = points_[point];
  ++state.attempts;
  state.finished = false;
  return note("began", point, Json().set("attempt", state.attempts));
}

Result<void> CurveFolder::end(std::size_t point, bool complete, double qps, Duration took,
                              std::string_view why) {
  Json more;
  more.set("took_s", took.seconds());
  if (!complete) return note("stopped", point, std::move(more.set("why", why)));
  manifests_[point] = digest_of(manifest_of(point_folder(point)));
  points_[point].finished = true;
  points_[point].qps = qps;
  points_[point].took = took;
  more.set("qps", qps).set("manifest", manifests_[point]);
  return note("finished", point, std::move(more));
}

double expected_rate(const plan::CurvePlan& plan, const std::vector<PointState>& points,
                     std::size_t point) {
  // Uses the nearest finished point, by ratio. Rates grow with concurrency, but at most in
  // proportion. So for a higher level the lower one's rate is a careful estimate of how long passes
  // take; for a lower level its share is.
  const auto level = static_cast<double>(plan.points[point].concurrency);
  double best = std::numeric_limits<double>::infinity();
  double rate = 0;
  // Only points before it in the plan: a point's duration must not depend on when it is measured
  // again.
  for (std::size_t i = 0; i < point; ++i) {
    if (!points[i].finished || points[i].qps <= 0) continue;
    const auto other = static_cast<double>(plan.points[i].concurrency);
    const double away = std::abs(std::log(level / other));
    if (away >= best) continue;
    best = away;
    rate = points[i].qps * std::min(1.0, level / other);
  }
  return rate;
}

}  // namespace assay::campaign
