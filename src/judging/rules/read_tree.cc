#include "rules/read_tree.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "rules/derive.h"

namespace assay::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 10'000;  // of one folder
constexpr std::size_t kPointsMax = 5'000;    // of the tree
constexpr std::string_view kCachingAudit = "/audit/audit_output_caching_test.json";
constexpr int kPublishedDepth = 3;  // organisation, system, model
constexpr std::size_t kResultsBytesMax = std::size_t{1} << 20;

// Reads a point's folder name: r and its concurrency.
std::optional<std::int64_t> concurrency_in(std::string_view name) {
  constexpr std::size_t kDigitsMax = 10;
  if (name.size() < 2 || name.size() > 1 + kDigitsMax || name[0] != 'r') return std::nullopt;
  const std::string_view digits = name.substr(1);
  const bool all = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  const auto value = parse_int(digits);
  if (!all || !value || *value > rulebook::kConcurrencyMax) return std::nullopt;
  return *value;
}

class TreeReader {
 public:
  explicit TreeReader(Submission& tree) : tree_(tree) {}

  void read() {
    tree_.has_src = tree_.folder("src");
    tree_.has_docs = tree_.folder("docs");
    if (tree_.pareto) return read_pareto();
    for (const std::string& name : folders("src")) {
      Implementation one{.path = "src/" + name};
      for (const std::string& file : names(one.path, false)) {
        if (lower(file) == "readme.md") one.readme = true;
      }
      tree_.implementations.push_back(std::move(one));
    }
    for (const std::string& name : folders("results")) read_system(name);
  }

  // Reads edition v0.7 in its published form: a folder for each model, with all its files.
  void read_published(const std::vector<std::string>& curves) {
    for (const std::string& path : curves) {
      const std::string above = path.substr(0, path.rfind('/'));
      if (tree_.systems.empty() || tree_.systems.back().path != above) {
        tree_.systems.push_back({.path = above, .name = above.substr(above.rfind('/') + 1)});
      }
      Curve curve{.path = path, .model = path.substr(path.rfind('/') + 1)};
      read_published_curve(curve);
      tree_.systems.back().curves.push_back(std::move(curve));
    }
  }

 private:
  void trouble(std::string file, std::string found, std::string expected, std::string fix) {
    tree_.troubles.push_back({.found = std::move(found),
                              .expected = std::move(expected),
                              .where = {std::move(file), 0},
                              .fix = std::move(fix)});
  }

  // Returns the sorted names in a folder. Links out of the tree are left out and recorded.
  std::vector<std::string> names(const std::string& below, bool want_folders) {
    std::vector<std::string> out;
    std::error_code error;
    std::size_t entries = 0;
    for (fs::directory_iterator it(tree_.root / below, error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      const std::string path = below + "/" + name;
      if (++entries > kEntriesMax) {
        trouble(below, format("more than {} entries", kEntriesMax), "a folder that can be read",
                "remove what does not belong to the submission");
        break;
      }
      if (!valid_utf8(name)) {
        trouble(below, "a name that is not UTF-8", "names in UTF-8", "rename the file");
        continue;
      }
      std::error_code kind_error;
      if (it->is_symlink(kind_error) && !inside(it->path())) {
        trouble(path, "a link that leads out of the tree, or nowhere",
                "files that are in the tree themselves", "copy what the link points at");
        continue;
      }
      if (it->is_directory(kind_error) == want_folders) out.push_back(name);
    }
    std::ranges::sort(out);
    return out;
  }

  std::vector<std::string> folders(const std::string& below) {
    return tree_.folder(below) ? names(below, true) : std::vector<std::string>{};
  }

  bool inside(const fs::path& path) const {
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    if (error) return false;
    const fs::path root = fs::canonical(tree_.root, error);
    const auto [at, ignored] =
        std::mismatch(root.begin(), root.end(), target.begin(), target.end());
    return !error && at == root.end();
  }

  bool holds_point(const std::string& folder) const {
    std::error_code error;
    return std::ranges::any_of(
        std::array{"point.yaml", "result_summary.json", "performance/result_summary.json"},
        [&](const char* file) { return fs::is_regular_file(tree_.root / folder / file, error); });
  }

  void read_system(const std::string& name) {
    System system{.path = "results/" + name, .name = name};
    system.power_file = Document::read(tree_.root, system.path + "/system_power.json");
    for (const std::string& model : folders(system.path)) {
      Curve curve{.path = system.path + "/" + model, .model = model};
      curve.caching_audit = read_audit(curve.path);
      for (const std::string& folder : folders(curve.path)) {
        const auto concurrency = concurrency_in(folder);
        if (!concurrency) {
          if (holds_point(curve.path + "/" + folder)) curve.unread.push_back(folder);
          continue;
        }
        if (++points_ > kPointsMax) {
          trouble(curve.path, format("more than {} points in the tree", kPointsMax), "a submission",
                  "check the path: this is not a submission");
          break;
        }
        curve.points.push_back(read_point(curve.path, folder, *concurrency));
      }
      system.curves.push_back(std::move(curve));
    }
    tree_.systems.push_back(std::move(system));
  }

  // Reads edition v0.7: one description for each system, one file for each point.
  void read_pareto() {
    for (const std::string& file : files("systems")) {
      if (!file.ends_with(".json")) continue;
      const std::string id = file.substr(0, file.size() - std::string_view(".json").size());
      System system{.path = "pareto/" + id, .name = id};
      const Document description = Document::read(tree_.root, "systems/" + file);
      for (const std::string& model : folders(system.path)) {
        Curve curve{.path = system.path + "/" + model, .model = model};
        read_pareto_curve(description, curve);
        system.curves.push_back(std::move(curve));
      }
      tree_.systems.push_back(std::move(system));
    }
  }

  void read_pareto_curve(const Document& description, Curve& curve) {
    for (const char* name : {"points", "results", "accuracy"}) {
      if (!tree_.folder(curve.path + "/" + name)) curve.missing.emplace_back(name);
    }
    for (const std::string& file : files(curve.path + "/points")) {
      const std::string name = file.substr(0, file.rfind(".yaml"));
      if (!name.starts_with("point_") || name.size() == file.size()) continue;
      const auto concurrency = concurrency_in("r" + name.substr(std::string_view("point_").size()));
      if (!concurrency || ++points_ > kPointsMax) continue;
      PointFolder point{.path = curve.path + "/points/" + file, .name = name};
      point.named_concurrency = *concurrency;
      point.point = Document::read(tree_.root, point.path);
      point.description = description;
      // A point's declared concurrency names its results.
      const std::int64_t declared = point.point.at("/concurrency").as_int(*concurrency);
      const std::string results =
          format("{}/results/point_{}/mlperf_endpoints_log", curve.path, declared);
      point.summary = read_inside(results + "_summary.json");
      std::error_code error;
      if (!fs::exists(tree_.root / (results + "_detail.json"), error)) {
        curve.missing.push_back(
            format("results/point_{}/mlperf_endpoints_log_detail.json", declared));
      }
      curve.points.push_back(std::move(point));
    }
    if (!tree_.folder(curve.path + "/accuracy")) return;
    curve.old_accuracy = read_inside(curve.path + "/accuracy/accuracy_result.json");
    if (curve.old_accuracy.absent()) curve.missing.emplace_back("accuracy/accuracy_result.json");
    std::error_code error;
    if (!fs::exists(tree_.root / curve.path / "accuracy/accuracy.txt", error)) {
      curve.missing.emplace_back("accuracy/accuracy.txt");
    }
  }

  void read_published_curve(Curve& curve) {
    Document description;
    for (const std::string& file : files(curve.path + "/systems")) {
      if (!file.ends_with(".json") || !description.absent()) continue;
      description = read_inside(curve.path + "/systems/" + file);
    }
    std::set<std::int64_t> levels;
    const auto take = [&levels](std::string_view name) {
      constexpr std::string_view kBefore = "point_";
      if (!name.starts_with(kBefore)) return;
      const auto level = concurrency_in("r" + std::string(name.substr(kBefore.size())));
      if (level) levels.insert(*level);
    };
    for (const char* name : {"points", "results"}) {
      if (!tree_.folder(curve.path + "/" + name)) curve.missing.emplace_back(name);
    }
    for (const std::string& file : files(curve.path + "/points")) {
      if (file.ends_with(".yaml")) take(file.substr(0, file.rfind(".yaml")));
    }
    for (const std::string& name : folders(curve.path + "/results")) take(name);
    for (const std::int64_t level : levels) {
      if (++points_ > kPointsMax) return;
      const std::string name = format("point_{}", level);
      const std::string results = curve.path + "/results/" + name;
      PointFolder point{.path = curve.path + "/points/" + name + ".yaml", .name = name};
      point.named_concurrency = level;
      point.point = read_inside(point.path);
      point.description = description;
      point.summary = read_inside(results + "/results_summary.json");
      point.metadata = read_inside(results + "/run_metadata.json");
      if (point.metadata.absent()) {
        curve.missing.push_back("results/" + name + "/run_metadata.json");
      }
      curve.points.push_back(std::move(point));
    }
  }

  std::vector<std::string> files(const std::string& below) {
    return tree_.folder(below) ? names(below, false) : std::vector<std::string>{};
  }

  // Does not follow a link out of the tree.
  Document read_audit(const std::string& below) const {
    return read_inside(below + std::string(kCachingAudit));
  }

  Document read_inside(const std::string& path) const {
    std::error_code error;
    if (!fs::exists(tree_.root / path, error) || !inside(tree_.root / path)) return {};
    return Document::read(tree_.root, path);
  }

  PointFolder read_point(const std::string& below, const std::string& name,
                         std::int64_t concurrency) {
    PointFolder point{.path = below + "/" + name, .name = name, .named_concurrency = concurrency};
    for (const std::string& file : names(point.path, false)) {
      std::error_code error;
      const std::uintmax_t bytes = fs::file_size(tree_.root / point.path / file, error);
      point.files.push_back({point.path + "/" + file, error ? 0 : bytes});
    }
    const auto has = [&point](std::string_view file) {
      return std::ranges::any_of(point.files, [&](const FileSize& one) {
        return one.name == point.path + "/" + std::string(file);
      });
    };
    const auto read = [&](std::string_view file) {
      return has(file) ? Document::read(tree_.root, point.path + "/" + std::string(file))
                       : Document();
    };
    point.point = read("point.yaml");
    point.description = read("system_desc.json");
    point.summary = read("result_summary.json");
    // A run folder of the reference client that has not been flattened yet.
    if (point.summary.absent()) {
      point.summary = read_inside(point.path + "/performance/result_summary.json");
    }
    point.config = read("config.yaml");
    point.power = read("power.json");
    for (const FileSize& file : point.files) {
      const std::string_view base = std::string_view(file.name).substr(point.path.size() + 1);
      if (base == "results.json" && file.bytes <= kResultsBytesMax) point.results = read(base);
      if (base == "events.jsonl") point.events = file.name;
    }
    point.caching_audit = read_audit(point.path);
    point.accuracy.document = read("accuracy_results.json");
    if (point.accuracy.document.absent()) {
      point.accuracy.document = read_inside(point.path + "/accuracy/accuracy_results.json");
    }
    const Json& scores = point.results.at("/accuracy_scores");
    if (point.accuracy.document.absent() && (scores.is_array() || scores.is_object())) {
      point.accuracy.document = point.results;
    }
    return point;
  }

  Submission& tree_;
  std::size_t points_ = 0;
};

bool holds_pareto(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path / "pareto", error) && fs::is_directory(path / "systems", error);
}

// Finds the published curves below `at`, sorted: folders that hold systems/ beside points/ or
// results/. Links are not followed.
void find_published(const fs::path& at, const fs::path& root, int depth,
                    std::vector<std::string>& out) {
  std::error_code error;
  const auto has = [&](const char* name) { return fs::is_directory(at / name, error); };
  if (has("systems")) {
    if (!has("pareto") && (has("points") || has("results"))) {
      out.push_back(at.lexically_relative(root).generic_string());
    }
    return;
  }
  if (depth == 0) return;
  std::vector<fs::path> below;
  for (fs::directory_iterator it(at, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (below.size() > kEntriesMax) return;
    if (!it->is_symlink(ignored) && it->is_directory(ignored)) below.push_back(it->path());
  }
  std::ranges::sort(below);
  for (const fs::path& one : below) find_published(one, root, depth - 1, out);
}

// The published results at or below a folder. The root is the folder itself, or a
// parent if it is a system or a model: paths below the root are [organisation/]system/model.
struct Published {
  fs::path root{};
  std::vector<std::string> curves{};
};

Published published_in(const fs::path& path) {
  std::error_code error;
  const fs::path given = fs::canonical(path, error);
  if (error) return {};
  Published out{.root = given};
  find_published(given, given, kPublishedDepth, out.curves);
  if (out.curves.empty()) return out;
  if (out.curves.front() == ".") {
    out.root = given.parent_path().parent_path();
  } else if (out.curves.front().find('/') == std::string::npos) {
    out.root = given.parent_path();
  }
  for (std::string& curve : out.curves) {
    curve = (given / curve).lexically_normal().lexically_relative(out.root).generic_string();
    while (curve.ends_with('/')) curve.pop_back();
  }
  return out;
}

bool holds_results(const fs::path& path, bool old_too) {
  std::error_code error;
  return fs::is_directory(path / "results", error) || (old_too && holds_pareto(path));
}

// An organisation's folder with a single submission means that submission.
std::string only_child_with_results(const fs::path& path, bool old_too) {
  std::string found;
  std::error_code error;
  std::size_t entries = 0;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (++entries > kEntriesMax) return {};
    if (!holds_results(it->path(), old_too)) continue;
    if (!found.empty()) return {};
    found = it->path().filename().string();
  }
  return found;
}

std::string text_of(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : value.is_null() ? "" : value.dump();
}

Result<Json> read_list(const fs::path& file) {
  const std::string name = file.filename().string();
  const Document document = Document::read(file.parent_path(), name);
  if (document.absent()) return Error{Code::not_found, file.string() + ": no such file"};
  if (!document.good()) return invalid(format("{}: {}", file.string(), document.trouble()));
  return document.root();
}

}  // namespace

Submission read_tree(const fs::path& path, rulebook::Edition edition) {
  Submission tree;
  tree.edition = std::move(edition);
  std::error_code error;
  tree.exists = fs::is_directory(path, error);
  tree.root = path;
  if (!tree.exists) return tree;
  const bool old_too = tree.edition.pareto_layout;
  const Published published = old_too ? published_in(path) : Published();
  if (!published.curves.empty()) {
    tree.root = published.root;
    tree.published = tree.pareto = tree.has_results = true;
    TreeReader(tree).read_published(published.curves);
    derive(tree);
    return tree;
  }
  if (!holds_results(path, old_too)) {
    tree.below = only_child_with_results(path, old_too);
    if (!tree.below.empty()) tree.root = path / tree.below;
  }
  tree.has_results = holds_results(tree.root, old_too);
  tree.pareto = old_too && holds_pareto(tree.root);
  TreeReader(tree).read();
  derive(tree);
  return tree;
}

Result<std::vector<rulebook::SeedSet>> read_seed_sets(const fs::path& file) {
  ASSIGN_OR_RETURN(const Json root, read_list(file));
  std::vector<rulebook::SeedSet> out;
  const auto add = [&out](const Json& set, std::optional<rulebook::Cohort> cohort) {
    out.push_back({.id = text_of(set["id"]),
                   .cohort = cohort,
                   .scheduler_rng_seed = set["scheduler_rng_seed"].as_uint(),
                   .sample_index_rng_seed = set["sample_index_rng_seed"].as_uint(),
                   .model_seed = set["model_seed"].as_uint()});
  };
  // The published form: cohorts, each with its sets.
  std::vector<const Json*> cohorts{&root["cohort"]};
  for (const Json& one : root["cohorts"].items()) {
    cohorts.push_back(one.find("cohort") != nullptr ? one.find("cohort") : &one);
  }
  for (const Json* one : cohorts) {
    const auto cohort = rulebook::Cohort::parse((*one)["cohort-id"].as_string());
    for (const Json& set : (*one)["seed_sets"].items()) add(set, cohort);
  }
  // The reference checker's form: sets, each with the cohorts that may adopt it.
  for (const Json& set : root["seed_sets"].items()) {
    std::optional<rulebook::Cohort> first;
    for (const Json& name : set["cohorts"].items()) {
      const auto cohort = rulebook::Cohort::parse(name.as_string());
      if (cohort && (!first || *cohort < *first)) first = cohort;
    }
    add(set, first);
  }
  if (out.empty()) return invalid(format("{}: no seed_sets in it", file.string()));
  return out;
}

Result<std::vector<rulebook::Drafter>> read_drafters(const fs::path& file) {
  ASSIGN_OR_RETURN(const Json root, read_list(file));
  if (!root["drafters"].is_array()) {
    return invalid(format("{}: no list of drafters in it", file.string()));
  }
  std::vector<rulebook::Drafter> out;
  for (const Json& one : root["drafters"].items()) {
    out.push_back({.benchmark = text_of(one["benchmark"]),
                   .approved = rulebook::Cohort::parse(one["approved_cohort"].as_string()),
                   .model_id = text_of(one["model_id"]),
                   .weight_checksum = text_of(one["weight_checksum"]),
                   .target_checksum = text_of(one["target_checksum"]),
                   .configuration = one["configuration"]});
  }
  return out;
}

}  // namespace assay::rules
