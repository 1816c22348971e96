#include "explorer/import.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "base/staged.h"
#include "base/text.h"
#include "base/yaml.h"
#include "dataset/datasheet.h"
#include "explorer/import_parts.h"
#include "explorer/records.h"
#include "interchange/read/foreign_run.h"
#include "rulebook/regions.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileMax = std::size_t{64} << 20;
constexpr int kDepthMax = 12;

class Search {
 public:
  explicit Search(const ImportOptions& options) : options_(options) {}

  Result<void> file(const fs::path& path) {
    ASSIGN_OR_RETURN(const std::string text, read_file(path, kFileMax));
    if (path.extension() == ".jsonl") return requests(path, text);
    if (path.extension() == ".csv") {
      const Json rows = rows_of_csv(text);
      if (!is_result_table(rows)) return unknown(path);
      take(read_result_table(rows, path, options_));
      return {};
    }
    auto json = Json::parse(text);
    if (!json) return json.error().within(path.string());
    if (described(*json)) return {};
    auto found = read_result_json(*json, path, options_);
    if (!found) return unknown(path);
    take(std::move(*found));
    return {};
  }

  Result<void> folder(const fs::path& path, int depth) {
    if (is_our_run(path)) return take_one(path, read_our_run(path, options_));
    const Json plan = read_json_or_null(path / "curve.json");
    if (plan["format"].as_string() == "assay-curve") return curve(path, plan);
    const std::string layout = submission_layout(path);
    if (!layout.empty()) {
      auto found = read_submission(path, options_, notes);
      if (!found) return note(path, found.error());
      take(std::move(*found));
      return {};
    }
    if (is_reference_run(path)) return take_one(path, read_reference_run(path, options_));
    if (is_inference_tree(path)) {
      take(read_inference_tree(path, options_, notes));
      return {};
    }
    if (is_loadgen_folder(path)) return take_one(path, read_loadgen_folder(path, options_));
    if (depth >= kDepthMax) return {};
    return below(path, depth);
  }

  std::vector<FoundPoint> points{};
  std::vector<store::DatasheetRecord> datasheets{};
  std::vector<std::string> notes{};
  std::vector<std::string> cut_short{};

 private:
  // Takes a Croissant file.
  bool described(const Json& json) {
    if (!dataset::is_croissant(json)) return false;
    datasheets.push_back(make_datasheet(json));
    return true;
  }

  // A file of single requests. AIPerf writes its figures in a file beside it.
  Result<void> requests(const fs::path& path, std::string_view text) {
    if (interchange::guess_foreign_format(text) != interchange::ForeignFormat::aiperf)
      return unknown(path);
    const fs::path figures = path.parent_path() / "profile_export_aiperf.json";
    if (fs::exists(figures)) return file(figures);
    return invalid(
        format("'{}' holds AIPerf's requests, and its figures are not beside it ({})\n  make it a "
               "run first: assay convert {} runs/aiperf && assay import runs/aiperf",
               path.string(), figures.filename().string(), path.string()));
  }

  static Error unknown(const fs::path& path) {
    return invalid(format(
        "'{}' is not a result that Assay knows\n  it reads run folders, curve folders, submission "
        "trees, folders of LoadGen's logs, tables of MLPerf Inference, `assay simulate --json`, "
        "vLLM's and AIPerf's results, Croissant files",
        path.string()));
  }

  Result<void> below(const fs::path& path, int depth) {
    std::error_code error;
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      // A folder still being built, or left by a killed process, is not a result.
      if (!entry.path().string().ends_with(kPartSuffix)) entries.push_back(entry.path());
    }
    if (error) return note(path, {Code::io, error.message()});
    std::ranges::sort(entries);
    for (const fs::path& entry : entries) {
      const fs::file_status status = fs::symlink_status(entry, error);
      if (fs::is_directory(status)) {
        TRY(folder(entry, depth + 1));
      } else if (fs::is_regular_file(status) && entry.extension() == ".json") {
        // Most JSON files below a folder are not results; skip those without a note.
        const Json json = read_json_or_null(entry);
        if (described(json)) continue;
        auto found = read_result_json(json, entry, options_);
        if (found) take(std::move(*found));
      }
    }
    return {};
  }

  // The safety run at this concurrency of the series beside a curve (docs/formats/safety.md).
  static Json safety_at(const Json& grades, double concurrency) {
    for (const Json& row : grades["levels"].items()) {
      if (row["concurrency"].as_double() != concurrency) continue;
      Json out;
      for (const char* const key :
           {"grade", "numeric", "safe_share", "attack_gap", "queries", "failed"}) {
        if (!row[key].is_null()) out.set(key, row[key]);
      }
      return out;
    }
    return {};
  }

  // A curve of ours: its points are run folders; interrupted runs (attempts/) are not points.
  Result<void> curve(const fs::path& path, const Json& plan) {
    const Json grades = read_json_or_null(path / "safety/grades.json");
    for (const Json& planned : plan["plan"]["points"].items()) {
      const std::string_view name = planned["name"].as_string();
      if (!is_plain_id(name)) {
        TRY(note(path, invalid(format("a point's name is {}", kPlainId))));
        continue;
      }
      const fs::path folder = path / "points" / name;
      // A point without its manifest is still being measured.
      if (!is_our_run(folder) || !fs::exists(folder / "assay/run.json")) continue;
      auto found = read_our_run(folder, options_);
      if (!found) {
        TRY(note(folder, found.error()));
        continue;
      }
      look_at_end(folder, found->point.run);
      found->curve.origin = "curve";
      if (const Json& said = plan["precision"];
          said.is_string() && found->curve.precision.empty()) {
        found->curve.precision = clean_name(said.as_string());
      }
      found->curve.curve_id = plan["curve_id"].as_string();
      found->curve.path = path.string();
      found->curve.system.concurrency_max = plan["plan"]["c_max"].as_int();
      found->point.region = planned["declared_region"].as_string();
      const std::string_view offline = planned["offline"].as_string();
      if (offline == "dedicated" || offline == "elected") found->point.offline = offline;
      if (offline == "dedicated") {
        found->point.region = "offline";
        const double level = planned["concurrency"].as_double();
        if (level > 0) found->point.concurrency = level;
      } else {
        found->point.safety = safety_at(grades, planned["concurrency"].as_double());
      }
      points.push_back(std::move(*found));
    }
    return {};
  }

  Result<void> take_one(const fs::path& path, Result<FoundPoint> found) {
    if (!found) return note(path, found.error());
    look_at_end(path, found->point.run);
    points.push_back(std::move(*found));
    return {};
  }
  // Notes why a run ended early: the end record's own words; for a log without one the last
  // warning, which says where the log is cut off.
  void look_at_end(const fs::path& path, const Json& run) {
    const std::string_view state = run["state"].as_string();
    const Json& warnings = run["warnings"];
    if (state == "interrupted") {
      cut_short.push_back(
          format("{}: interrupted: {}", path.string(), run["state_reason"].as_string()));
    } else if (state == "crashed" && warnings.size() > 0) {
      cut_short.push_back(
          format("{}: {}", path.string(), warnings[warnings.size() - 1].as_string()));
    }
  }
  void take(std::vector<FoundPoint> found) { std::ranges::move(found, std::back_inserter(points)); }
  Result<void> note(const fs::path& path, const Error& error) {
    notes.push_back(format("{}: left out: {}", path.string(), error.message));
    return {};
  }

  const ImportOptions& options_;
};

// Fills in a point's region where no file declares it: known if C_max is known, and if the lowest
// point is low enough to be C_min.
void fill_regions(const CurveFacts& curve, std::vector<PointFacts>& points) {
  if (!curve.system.concurrency_max || points.empty()) return;
  const double lowest = std::ranges::min(points, {}, &PointFacts::concurrency).concurrency;
  if (!(lowest >= 1 && lowest <= double(rulebook::kConcurrencyMax))) return;
  const auto regions =
      rulebook::Regions::make(*curve.system.concurrency_max, static_cast<std::int64_t>(lowest));
  if (!regions) return;
  for (PointFacts& point : points) {
    const bool whole = point.concurrency == std::floor(point.concurrency);
    if (!point.region.empty() || !whole || point.concurrency > double(rulebook::kConcurrencyMax))
      continue;
    const auto region = regions->region_of(static_cast<std::int64_t>(point.concurrency));
    if (region) point.region = to_string(*region);
  }
}

std::vector<store::CurveRecord> curves_of(const std::vector<FoundPoint>& found) {
  // Grouped by the record's own id: points of one curve come from many folders.
  std::map<std::string, std::vector<const FoundPoint*>> groups;
  for (const FoundPoint& one : found) groups[make_curve(one.curve, {}).id].push_back(&one);
  std::vector<store::CurveRecord> out;
  for (const auto& [id, group] : groups) {
    std::vector<PointFacts> points;
    for (const FoundPoint* one : group) points.push_back(one->point);
    fill_regions(group.back()->curve, points);
    // The last one found describes the curve: the newest, if folders are named by time.
    out.push_back(make_curve(group.back()->curve, points));
  }
  return out;
}

}  // namespace

Json read_json_or_null(const fs::path& path) {
  const auto text = read_file(path, kFileMax);
  if (!text) return Json();
  auto json = Json::parse(*text);
  return json ? std::move(*json) : Json();
}

Json read_yaml_or_null(const fs::path& path) {
  const auto text = read_file(path, kFileMax);
  if (!text) return Json();
  const auto node = yaml::parse(*text);
  return node ? node->to_json() : Json();
}

void apply_options(CurveFacts& facts, const ImportOptions& options) {
  const auto use = [](std::string& field, const std::string& said) {
    if (!said.empty()) field = clean_name(said);
  };
  if (!options.description.empty() && facts.system.description.size() == 0) {
    const SystemFacts told = facts_of_description(read_json_or_null(options.description));
    const std::string kind = facts.system.kind;
    const std::string name = facts.system.name;
    facts.system = told;
    facts.system.kind = kind;
    if (facts.system.name.empty()) facts.system.name = name;
  }
  use(facts.model, options.model);
  use(facts.dataset, options.dataset);
  use(facts.submission, options.submission);
  use(facts.published, options.published);
  use(facts.system.name, options.system);
  use(facts.system.organisation, options.organisation);
  use(facts.system.division, options.division);
  use(facts.system.availability, options.availability);
  use(facts.system.accelerator, options.accelerator);
  use(facts.system.software, options.software);
  if (options.accelerators > 0) facts.system.accelerators = options.accelerators;
  if (options.power_kw > 0) {
    facts.system.power_kw = options.power_kw;
    facts.system.power_basis = "provisioned";
  }
  if (options.price_per_hour > 0) facts.system.price_per_hour = options.price_per_hour;
  if (options.concurrency_max > 0) facts.system.concurrency_max = options.concurrency_max;
  if (!options.twin_of.empty() && facts.system.kind == "simulated") facts.twin_of = options.twin_of;
  if (facts.system.name.empty()) facts.system.name = "unnamed system";
  facts.model = facts.model.empty() ? "unnamed model" : model_name(facts.model);
  if (facts.dataset.empty()) facts.dataset = "unnamed dataset";
}

Result<Imported> read_results(const fs::path& path, const ImportOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  Search search(options);
  if (fs::is_directory(status)) {
    TRY(search.folder(fs::absolute(path).lexically_normal(), 0));
  } else if (fs::is_regular_file(status)) {
    TRY(search.file(fs::absolute(path).lexically_normal()));
  } else {
    return Error{Code::not_found, format("'{}': no such file or folder", path.string())};
  }
  Imported out{.datasheets = std::move(search.datasheets),
               .notes = std::move(search.notes),
               .cut_short = std::move(search.cut_short)};
  // A submission is named after its folder, whose name can be anything.
  for (FoundPoint& found : search.points) {
    std::string& submission = found.curve.submission;
    if (submission.empty() || is_plain_id(submission)) continue;
    const auto derived = out.derived_ids.try_emplace(submission, plain_id_from(submission)).first;
    submission = derived->second;
  }
  out.curves = curves_of(search.points);
  return out;
}

Result<ImportCounts> put_all(store::Store& store, const std::vector<store::CurveRecord>& curves,
                             const std::vector<store::DatasheetRecord>& datasheets) {
  ImportCounts counts{.datasheets = datasheets.size()};
  for (const store::DatasheetRecord& sheet : datasheets) TRY(store.put_datasheet(sheet));
  std::set<std::string_view> ids;
  for (const store::CurveRecord& curve : curves) {
    ASSIGN_OR_RETURN(const store::PutResult put, store.put(curve));
    counts.curves += ids.insert(curve.id).second ? 1U : 0U;
    counts.curves_new += put.curve_new ? 1U : 0U;
    counts.points += curve.points.size();
    counts.points_new += put.points_new;
    counts.points_changed += put.points_changed;
  }
  return counts;
}

}  // namespace assay::explorer
