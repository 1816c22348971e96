#include "plan/workload.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "base/yaml.h"
#include "plan/resolve.h"

namespace assay::plan {
namespace {

constexpr std::array<std::string_view, 22> kKeys{
    "workload",         "title",  "edition",         "task",     "model",     "api",
    "metric",           "prompt", "config",          "datasets", "scenarios", "quality",
    "accuracy_samples", "scorer", "scorers",         "salted",   "notes",     "sources",
    "editions",         "seeds",  "duration_min_ms", "lengths"};
constexpr std::array<std::string_view, 6> kApis{
    "openai",        "openai_completions",    "videogen",
    "openai_images", "openai_transcriptions", "tensors"};
constexpr std::array<std::string_view, 8> kScenarioKeys{
    "required", "queries_min", "samples_min", "samples_per_query",
    "limits",   "concurrency", "config",      "quality"};
constexpr std::array<std::string_view, 6> kScenarios{
    "offline", "server", "interactive", "single_stream", "multi_stream", "concurrency"};

// Merges by RFC 7396, except that notes and sources are added and not replaced.
void merge(Json& target, const Json& patch) {
  for (const auto& [key, value] : patch.members()) {
    Json* member = target.find(key);
    if (value.is_null()) {
      target.erase(key);
    } else if (member != nullptr && member->is_object() && value.is_object()) {
      merge(*member, value);
    } else if (member != nullptr && member->is_array() && (key == "notes" || key == "sources")) {
      for (const Json& item : value.items()) member->push_back(item);
    } else {
      target.set(key, value);
    }
  }
}

Error wrong(const std::string& name, std::string_view what) {
  return invalid(format("{}: {}", name, what));
}

template <typename List>
std::string one_of_names(const List& list) {
  std::string out;
  for (const std::string_view word : list) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

template <typename List>
bool is_one_of(std::string_view word, const List& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

template <typename List>
Error unknown(const std::string& name, std::string_view what, std::string_view word,
              const List& list) {
  const std::string_view near = nearest(word, list);
  return wrong(
      name, format("{}: unknown \"{}\"{}; one of: {}", what, word,
                   near.empty() ? "" : format(", did you mean \"{}\"?", near), one_of_names(list)));
}

Result<void> check_dataset(const std::string& name, const std::string& id, const Json& from) {
  for (const char* key : {"file", "published"}) {
    if (from[key].as_string().empty()) {
      return wrong(name, format("datasets.{}.{}: expected text", id, key));
    }
  }
  for (const char* key : {"file", "arrays"}) {
    const std::filesystem::path file(from[key].as_string());
    if (file.is_absolute() || std::find(file.begin(), file.end(), "..") != file.end()) {
      return wrong(name, format("datasets.{}.{}: must stay within the dataset folder", id, key));
    }
  }
  if (from["rows"].as_int(0) < 1) {
    return wrong(name, format("datasets.{}.rows: expected a whole number from 1 up", id));
  }
  if (!from["columns"].is_array()) {
    return wrong(name, format("datasets.{}.columns: expected a list of names", id));
  }
  return {};
}

Result<void> check_quality(const std::string& name, const std::string& where, const Json& list) {
  if (!list.is_array() || list.size() == 0) {
    return wrong(name, format("{}: expected a list of metrics and what each must reach", where));
  }
  for (const Json& item : list.items()) {
    const bool bounded = item["at_least"].is_number() || item["at_most"].is_number();
    if (item["metric"].as_string().empty() || !item["reference"].is_number() || !bounded) {
      return wrong(name, format("{}: each has metric, reference, and at_least or at_most", where));
    }
  }
  return {};
}

Result<void> check_scenario(const std::string& name, const std::string& id, const Json& from) {
  const std::string where = "scenarios." + id;
  if (id == "agentic") return {};
  if (!is_one_of(id, kScenarios)) return unknown(name, "scenarios", id, kScenarios);
  for (const auto& [key, value] : from.members()) {
    if (!is_one_of(key, kScenarioKeys)) return unknown(name, where, key, kScenarioKeys);
  }
  for (const auto& [key, value] : from["limits"].members()) {
    if (!value.is_number()) return wrong(name, format("{}.limits.{}: expected ms", where, key));
  }
  if (from.find("quality") != nullptr)
    TRY(check_quality(name, where + ".quality", from["quality"]));
  return {};
}

// Checks the fields that every workload needs, in the requested edition.
Result<void> check_workload(const std::string& name, const Json& data) {
  for (const char* key : {"title", "task", "api", "metric", "prompt", "scorer"}) {
    if (data[key].as_string().empty()) return wrong(name, format("{}: expected text", key));
  }
  if (!is_one_of(data["api"].as_string(), kApis)) {
    return unknown(name, "api", data["api"].as_string(), kApis);
  }
  if (data["model"]["id"].as_string().empty()) return wrong(name, "model.id: expected text");
  if (data["datasets"].size() == 0) return wrong(name, "datasets: expected at least one");
  for (const auto& [id, from] : data["datasets"].members()) TRY(check_dataset(name, id, from));
  if (data["scenarios"].size() == 0) return wrong(name, "scenarios: expected at least one");
  for (const auto& [id, from] : data["scenarios"].members()) TRY(check_scenario(name, id, from));
  TRY(check_quality(name, "quality", data["quality"]));
  if (data["sources"].size() == 0) return wrong(name, "sources: expected where this is from");
  return {};
}

std::string joined_list(const Json& list) {
  std::string out;
  for (const Json& item : list.items()) {
    if (!out.empty()) out += ", ";
    out += item.as_string();
  }
  return out;
}

std::string_view id_of(std::string_view name) { return name.substr(0, name.find("::")); }

// Returns the load that a scenario means; the user gives its rate or concurrency.
Json scenario_load(std::string_view scenario, const Json& from) {
  Json settings = Json::object();
  Json load = Json::object();
  Json out = Json::object();
  if (scenario == "offline") {
    const std::int64_t concurrency = from["concurrency"].as_int(0);
    out.set("type", concurrency > 0 ? "online" : "offline");
    load.set("type", concurrency > 0 ? "concurrency" : "max_throughput");
    if (concurrency > 0) load.set("target_concurrency", concurrency);
  } else if (scenario == "single_stream" || scenario == "multi_stream") {
    const std::int64_t streams = from["samples_per_query"].as_int(1);
    out.set("type", "online");
    load.set("type", "concurrency").set("target_concurrency", streams);
  } else if (scenario == "concurrency") {
    out.set("type", "online");
    load.set("type", "concurrency");
  } else if (scenario != "agentic") {
    out.set("type", "online");
    load.set("type", "poisson");
  }
  if (load.size() > 0) settings.set("load_pattern", std::move(load));
  if (const std::int64_t queries = from["queries_min"].as_int(0); queries > 0) {
    // Use as many passes as the least number of queries needs; the user may ask for more.
    settings.set("runtime", Json::object().set("n_samples_to_issue", queries));
  }
  if (settings.size() > 0) out.set("settings", std::move(settings));
  return out;
}

}  // namespace

std::vector<std::string> Workload::scenarios() const {
  std::vector<std::string> out;
  for (const auto& [scenario, value] : data["scenarios"].members()) out.push_back(scenario);
  return out;
}

const WorkloadDataset* Workload::dataset(std::string_view wanted) const {
  for (const WorkloadDataset& candidate : datasets) {
    if (candidate.name == id_of(wanted)) return &candidate;
  }
  return nullptr;
}

Workloads Workloads::builtin() {
  Workloads out;
  for (const EmbeddedFile& file : embedded_workloads()) {
    const auto added = out.add_text(file.text, "workloads/" + file.name);
    CHECK(added.has_value());
  }
  return out;
}

Result<void> Workloads::add_text(std::string_view yaml, const std::string& name) {
  auto parsed = yaml::parse(yaml);
  if (!parsed) return invalid(format("{}:{}", name, parsed.error().message));
  if (!parsed->is_map()) return wrong(name, "expected a map");
  Json file = parsed->to_json();
  if (file.find("workload") == nullptr) {
    if (file["rounds"].is_object()) {
      merge(rounds_, file["rounds"]);
      return {};
    }
    if (!file["editions"].is_object()) return wrong(name, "expected a key `workload`");
    merge(editions_, file["editions"]);
    return {};
  }
  for (const auto& [key, value] : file.members()) {
    if (!is_one_of(key, kKeys)) return unknown(name, "this file", key, kKeys);
  }
  if (file["workload"].as_string().empty()) return wrong(name, "workload: expected a name");
  const auto same = [&](const Json& other) { return other["workload"] == file["workload"]; };
  if (const auto at = std::find_if(files_.begin(), files_.end(), same); at != files_.end()) {
    *at = std::move(file);
    return {};
  }
  files_.push_back(std::move(file));
  std::sort(files_.begin(), files_.end(), [](const Json& a, const Json& b) {
    return a["workload"].as_string() < b["workload"].as_string();
  });
  return {};
}

std::vector<std::string> Workloads::names() const {
  std::vector<std::string> out;
  for (const Json& file : files_) out.emplace_back(file["workload"].as_string());
  return out;
}

const Json* Workloads::entry(std::string_view name) const {
  for (const Json& file : files_) {
    if (file["workload"].as_string() == name) return &file;
  }
  // A checker's name for one of a workload's targets: bert-99.9 is a target of bert-99.
  for (const Json& file : files_) {
    for (const std::string_view one : split(file["model"]["checker_name"].as_string(), ',')) {
      if (trim(one) == name) return &file;
    }
  }
  return nullptr;
}

Result<std::vector<std::string>> Workloads::editions_of(std::string_view name) const {
  const Json* file = entry(name);
  if (file == nullptr) {
    const std::vector<std::string> known = names();
    const std::vector<std::string_view> views(known.begin(), known.end());
    std::error_code error;
    if (std::filesystem::exists(name, error)) {
      return wrong("--workload", format("'{}' is not a workload: its file ends in .yaml", name));
    }
    return unknown("--workload", "name", name, views);
  }
  std::vector<std::string> out{std::string((*file)["edition"].as_string())};
  for (const auto& [edition, value] : (*file)["editions"].members()) out.push_back(edition);
  for (const auto& [edition, value] : rounds_[(*file)["workload"].as_string()].members()) {
    if (!is_one_of(edition, out)) out.push_back(edition);
  }
  return out;
}

Result<Workload> Workloads::find(std::string_view name, std::string_view edition) const {
  if (name.ends_with(".yaml") || name.ends_with(".yml")) {
    ASSIGN_OR_RETURN(const std::string text,
                     read_file(std::filesystem::path(name), std::size_t{1} << 20));
    Workloads alone;
    alone.editions_ = editions_;
    alone.rounds_ = rounds_;
    TRY(alone.add_text(text, std::string(name)));
    if (alone.files_.empty()) return wrong(std::string(name), "expected a key `workload`");
    return alone.make(alone.files_.front(), edition);
  }
  TRY(editions_of(name));
  return make(*entry(name), edition);
}

Result<Workload> Workloads::make(const Json& file, std::string_view edition) const {
  Workload out;
  out.name = file["workload"].as_string();
  ASSIGN_OR_RETURN(const std::vector<std::string> known, editions_of(out.name));
  out.edition = edition.empty() ? known.front() : std::string(edition);
  if (!is_one_of(out.edition, known)) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    return unknown(out.name, "edition", out.edition, views);
  }
  const Json* variant = file["editions"].find(out.edition);
  const bool own = variant != nullptr || out.edition == file["edition"].as_string();
  if (!own) variant = rounds_[out.name].find(out.edition);
  const std::string base(
      variant == nullptr ? out.edition : std::string((*variant)["base"].as_string(out.edition)));
  Json data = Json::object();
  merge(data, editions_[base]);
  const Json titles = data["title"];
  const Json sources = data["sources"];
  merge(data, file);
  // Another round's figures are not from the sources of the file's own.
  if (variant != nullptr && !own) data.set("sources", sources);
  if (variant != nullptr) merge(data, *variant);
  for (const char* key : {"workload", "editions", "edition", "base"}) data.erase(key);
  if (titles.is_string()) data.set("edition_title", titles);
  TRY(check_workload(out.name, data));
  out.title = data["title"].as_string();
  out.api = data["api"].as_string();
  for (const auto& [id, from] : data["datasets"].members()) {
    out.datasets.push_back({.name = id,
                            .rows = from["rows"].as_uint(0),
                            .file = std::string(from["file"].as_string()),
                            .arrays = std::string(from["arrays"].as_string()),
                            .published = std::string(from["published"].as_string()),
                            .prepare = std::string(from["prepare"].as_string()),
                            .columns = joined_list(from["columns"])});
  }
  out.data = std::move(data);
  return out;
}

std::filesystem::path dataset_folder() {
  const char* folder = std::getenv("ASSAY_DATASETS");
  return folder == nullptr || *folder == '\0' ? "datasets" : folder;
}

Result<std::string> run_config(const Workload& workload, std::string_view scenario,
                               const std::filesystem::path& folder, ScenarioLoad load) {
  if (workload.data["config"]["datasets"].is_null()) {
    return Error{
        Code::unsupported,
        format("workload {}: how a server of {} is asked is not laid down; its recorded "
               "answers are scored with assay score (`assay workloads {}` has its limits)\n"
               "  a tensor server of your own: leave --workload out, and give --scenario "
               "NAME --api-type kserve --model M --dataset ARRAYS.npz --config user.conf",
               workload.name, workload.data["task"].as_string(), workload.name)};
  }
  Json config = Json::object();
  merge(config, workload.data["config"]);
  if (!scenario.empty()) {
    const Json* from = workload.data["scenarios"].find(scenario);
    if (from == nullptr) {
      const std::vector<std::string> known = workload.scenarios();
      const std::vector<std::string_view> views(known.begin(), known.end());
      return unknown("workload " + workload.name, "scenario", scenario, views);
    }
    if (load == ScenarioLoad::own) merge(config, scenario_load(scenario, *from));
    merge(config, (*from)["config"]);
  }
  if (!config["name"].is_string()) {
    config.set("name", scenario.empty() ? workload.name : format("{}_{}", workload.name, scenario));
  }
  if (Json* list = config.find("datasets"); list != nullptr) {
    for (Json& data : list->make_array()) {
      const WorkloadDataset* known = workload.dataset(data["name"].as_string());
      if (known == nullptr || data["path"].is_string()) continue;
      const std::string annotations = (folder / known->file).string();
      data.set("path", (folder / (known->arrays.empty() ? known->file : known->arrays)).string());
      Json* const scored = data.find("accuracy_config");
      if (scored != nullptr && (*scored)["eval_method"].as_string() == "coco_map") {
        scored->set("extras", Json::object().set("annotations", annotations));
      }
      const Json& parser = workload.data["datasets"][known->name]["parser"];
      if (parser.is_object() && data.find("parser") == nullptr) data.set("parser", parser);
    }
  }
  return yaml::write(config);
}

Error missing_dataset(const Workload& workload, const WorkloadDataset& dataset,
                      const std::filesystem::path& path) {
  std::string text = format(
      "workload {}: its dataset {} ({} rows) is not here: '{}'\n"
      "  its owners publish it at: {}\n",
      workload.name, dataset.name, with_thousands(static_cast<std::int64_t>(dataset.rows)),
      path.string(), dataset.published);
  if (!dataset.prepare.empty()) text += format("  {}\n", dataset.prepare);
  text +=
      format("  expected: a file {} with the columns {}, in --dataset-dir DIR or $ASSAY_DATASETS",
             dataset.arrays.empty() ? dataset.file : dataset.arrays, dataset.columns);
  return Error{Code::not_found, std::move(text)};
}

Result<void> check_files(const Workload& workload, const Config& config) {
  for (const DatasetConfig& data : config.datasets) {
    const WorkloadDataset* known = workload.dataset(data.name);
    if (known == nullptr || data.path.empty() || !wants(config, data)) continue;
    std::error_code ignored;
    const std::filesystem::path path(data.path);
    const std::string& file = known->arrays.empty() ? known->file : known->arrays;
    if (path.filename() == std::filesystem::path(file).filename() &&
        !std::filesystem::exists(path, ignored)) {
      return missing_dataset(workload, *known, path);
    }
  }
  return {};
}

std::vector<std::string> row_notes(const Json& facts, const std::vector<Dataset>& datasets) {
  std::vector<std::string> out;
  for (const Dataset& data : datasets) {
    const std::uint64_t rows = facts["rows"][id_of(data.name)].as_uint(0);
    if (rows == 0 || rows == data.rows()) continue;
    out.push_back(format("workload {}: dataset {} has {} rows here, and the suite's has {}",
                         facts["name"].as_string(), data.name,
                         with_thousands(static_cast<std::int64_t>(data.rows())),
                         with_thousands(static_cast<std::int64_t>(rows))));
  }
  return out;
}

Json scenario_facts(const Workload& workload, std::string_view scenario) {
  Json out = Json::object();
  out.set("name", workload.name).set("edition", workload.edition);
  const Json& quality = workload.data["quality"];
  if (!scenario.empty()) {
    const Json& from = workload.data["scenarios"][scenario];
    out.set("scenario", scenario);
    for (const char* key : {"limits", "queries_min"}) {
      if (from.find(key) != nullptr) out.set(key, from[key]);
    }
    out.set("quality", from.find("quality") != nullptr ? from["quality"] : quality);
  } else {
    out.set("quality", quality);
  }
  Json rows = Json::object();
  for (const WorkloadDataset& data : workload.datasets) {
    const bool lines = workload.data["datasets"][data.name]["counts"].is_null();
    if (lines) rows.set(data.name, data.rows);
  }
  out.set("rows", std::move(rows));
  return out;
}

}  // namespace assay::plan
