#include "rules/inference/tree.h"

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::rules::inference {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamesMax = 100'000;   // of one folder
constexpr std::size_t kResultsMax = 20'000;  // of the tree
constexpr std::size_t kTextBytesMax = std::size_t{64} << 20;
constexpr std::array<std::string_view, 5> kScenarios{"SingleStream", "MultiStream", "Server",
                                                     "Offline", "Interactive"};

class Reader {
 public:
  explicit Reader(Tree& tree) : tree_(tree) {}

  void read(const std::string& only) {
    for (const std::string& division : folders("")) {
      if (division != "closed" && division != "open" && division != "network") continue;
      for (const std::string& submitter : folders(division)) {
        if (only.empty() || submitter == only) read_submitter(division, submitter);
      }
    }
  }

 private:
  // Links out of the tree are not followed.
  bool inside(const fs::path& path) const {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (error) return false;
    const auto [at, ignored] = std::mismatch(root_.begin(), root_.end(), real.begin(), real.end());
    return at == root_.end();
  }

  std::vector<std::string> names(const std::string& below, bool wanted_folders) const {
    std::vector<std::string> out;
    std::error_code error;
    for (fs::directory_iterator it(tree_.root / below, error), end; !error && it != end;
         it.increment(error)) {
      const bool folder = it->is_directory(error);
      if (folder != wanted_folders || (it->is_symlink(error) && !inside(it->path()))) continue;
      if (out.size() == kNamesMax) break;
      out.push_back(it->path().filename().string());
    }
    std::ranges::sort(out);
    return out;
  }
  std::vector<std::string> folders(const std::string& below) const { return names(below, true); }

  Folder folder(std::string path) const {
    Folder out{.path = std::move(path)};
    std::error_code ignored;
    out.present = fs::is_directory(tree_.root / out.path, ignored) && inside(tree_.root / out.path);
    if (out.present) out.files = names(out.path, false);
    return out;
  }

  TextFile text(std::string name) const {
    TextFile out{.name = std::move(name)};
    std::error_code ignored;
    if (!fs::is_regular_file(tree_.root / out.name, ignored)) return out;
    if (auto read = read_file(tree_.root / out.name, kTextBytesMax)) out.text = std::move(*read);
    return out;
  }

  std::optional<std::uint64_t> size_of(const std::string& name) const {
    std::error_code error;
    const auto bytes = fs::file_size(tree_.root / name, error);
    if (error) return std::nullopt;
    return bytes;
  }

  void read_submitter(const std::string& division, const std::string& name) {
    SubmitterFolder out{.path = division + "/" + name, .division = division, .name = name};
    out.code = folder(out.path + (tree_.round.one_tree() ? "/src" : "/code"));
    if (division == "open") {
      out.model_mapping = Document::read(tree_.root, out.path + "/model_mapping.json");
    }
    out.has_results = folder(out.path + "/results").present;
    for (const std::string& system : folders(out.path + "/results")) read_system(system, out);
    tree_.submitters.push_back(std::move(out));
  }

  void read_system(const std::string& name, SubmitterFolder& of) {
    SystemFolder out{.path = of.path + "/results/" + name, .name = name};
    const std::string described = of.path + "/systems/" + name;
    out.description = Document::read(tree_.root, described + ".json");
    out.nameplate = Document::read(tree_.root, described + "_power.yaml");
    for (const std::string& model : folders(out.path)) {
      ModelFolder one{.path = out.path + "/" + model, .name = model};
      one.official = tree_.round.model(model, of.model_mapping.root());
      for (const std::string& scenario : folders(one.path)) {
        if (results_++ >= kResultsMax) {
          tree_.troubles.push_back({.severity = Severity::error,
                                    .found = format("more than {} results", kResultsMax),
                                    .where = {one.path, 0}});
          break;
        }
        one.results.push_back(read_result(of, name, one, scenario));
      }
      out.models.push_back(std::move(one));
    }
    of.systems.push_back(std::move(out));
  }

  ResultFolder read_result(const SubmitterFolder& of, const std::string& system,
                           const ModelFolder& model, const std::string& scenario) const {
    ResultFolder out{
        .path = model.path + "/" + scenario, .model = model.name, .scenario = scenario};
    out.official = model.official;
    out.performance =
        DetailLog::read(tree_.root, out.path + "/performance/run_1/mlperf_log_detail.txt");
    out.accuracy = DetailLog::read(tree_.root, out.path + "/accuracy/mlperf_log_detail.txt");
    out.of_endpoints = out.performance.absent() && out.accuracy.absent() &&
                       size_of(out.path + "/performance/result_summary.json").has_value();
    out.accuracy_text = text(out.path + "/accuracy/accuracy.txt");
    out.accuracy_json_bytes = size_of(out.path + "/accuracy/mlperf_log_accuracy.json");
    for (const std::string& name : folders(out.path + "/accuracy")) {
      out.accuracy_folders[name] = names(out.path + "/accuracy/" + name, false);
    }
    const std::string below = "/" + system + "/" + model.name + "/" + scenario;
    const bool one_tree = tree_.round.one_tree();
    read_measurements(one_tree ? out.path : of.path + "/measurements" + below, system, out);
    if (out.official != nullptr) {
      const std::string tests = one_tree ? out.path : of.path + "/compliance" + below;
      for (const std::string& test : out.official->tests) {
        out.tests.push_back(read_test(tests + "/" + test, test));
      }
    }
    if (folder(out.path + "/performance/power").present) {
      out.power = read_power(out.path + "/performance");
    }
    return out;
  }

  void read_measurements(const std::string& path, const std::string& system,
                         ResultFolder& out) const {
    out.measurements_folder = folder(path);
    std::string file = "measurements.json";
    if (!tree_.round.one_tree()) {
      const std::string with_scenario = "_" + out.scenario + ".json";
      const auto fits = [&](const std::string& name) {
        return name.starts_with(system) && name.ends_with(".json");
      };
      const auto& files = out.measurements_folder.files;
      auto found = std::ranges::find_if(files, [&](const std::string& name) {
        return fits(name) && name.ends_with(with_scenario);
      });
      if (found == files.end()) found = std::ranges::find_if(files, fits);
      if (found != files.end()) file = *found;
    }
    out.measurements = Document::read(tree_.root, path + "/" + file);
    for (const std::string& name : out.measurements_folder.files) {
      out.measurement_bytes[name] = size_of(path + "/" + name).value_or(0);
    }
  }

  ComplianceTest read_test(const std::string& path, const std::string& name) const {
    ComplianceTest out{.name = name, .folder = folder(path)};
    out.run = folder(path + "/performance/run_1");
    out.accuracy = folder(path + "/accuracy");
    if (name == "TEST01" || name == "TEST04") {
      out.log = DetailLog::read(tree_.root, out.run.path + "/mlperf_log_detail.txt");
    }
    out.verify_accuracy = text(path + "/verify_accuracy.txt");
    out.verify_performance = text(path + "/verify_performance.txt");
    out.verify_length = text(path + "/verify_output_len.txt");
    out.baseline = text(out.accuracy.path + "/baseline_accuracy.txt");
    out.compliance = text(out.accuracy.path + "/compliance_accuracy.txt");
    return out;
  }

  PowerFiles read_power(const std::string& path) const {
    PowerFiles out{.power = folder(path + "/power"),
                   .testing = folder(path + "/run_1"),
                   .ranging = folder(path + "/ranging")};
    out.client = Document::read(tree_.root, path + "/power/client.json");
    out.server = Document::read(tree_.root, path + "/power/server.json");
    out.testing_samples = text(path + "/run_1/spl.txt");
    out.ranging_samples = text(path + "/ranging/spl.txt");
    out.analyzer_log = text(path + "/power/ptd_logs.txt");
    out.ranging_log = DetailLog::read(tree_.root, path + "/ranging/mlperf_log_detail.txt");
    for (const std::string_view name : kSessionFiles) {
      const fs::path file = tree_.root / path / name;
      std::error_code ignored;
      if (!fs::is_regular_file(file, ignored)) continue;
      if (const auto bytes = read_file(file, kDetailLogBytesMax)) {
        out.digests[std::string(name)] = sha1_hex(*bytes);
      }
    }
    return out;
  }

  Tree& tree_;
  const fs::path root_ = [this] {
    std::error_code error;
    return fs::weakly_canonical(tree_.root, error);
  }();
  std::size_t results_ = 0;
};

}  // namespace

bool Folder::has(std::string_view file) const {
  return std::ranges::find(files, file) != files.end();
}

bool TextFile::has_line(std::string_view line) const {
  if (!text) return false;
  const auto lines = split(*text, '\n');
  return std::ranges::any_of(lines, [&](std::string_view one) { return trim(one) == line; });
}

bool TextFile::contains(std::string_view part) const {
  return text && text->find(part) != std::string::npos;
}

std::string ResultFolder::scenario_name() const {
  for (const std::string_view one : kScenarios) {
    if (lower(one) == lower(scenario)) return std::string(one);
  }
  return scenario;
}

std::string ResultFolder::scenario_run() const {
  return std::string(performance["effective_scenario"].as_string());
}

bool SystemFolder::has_power() const {
  return std::ranges::any_of(models, [](const ModelFolder& model) {
    return std::ranges::any_of(model.results,
                               [](const ResultFolder& result) { return result.power.has_value(); });
  });
}

std::string SystemFolder::kind() const {
  const std::string_view type = description.at("/system_type").as_string();
  if (type == "datacenter" || type == "edge") return std::string(type);
  if (type == "datacenter,edge" || type == "edge,datacenter") return "datacenter-edge";
  return {};
}

Tree read(const fs::path& root, rulebook::InferenceRound round, const std::string& submitter) {
  Tree out{.root = root, .round = std::move(round)};
  std::error_code ignored;
  out.exists = fs::is_directory(root, ignored);
  if (out.exists) Reader(out).read(submitter);
  return out;
}

}  // namespace assay::rules::inference
