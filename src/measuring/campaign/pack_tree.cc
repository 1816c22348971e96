#include "campaign/pack_tree.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/staged.h"
#include "base/version.h"
#include "base/yaml.h"
#include "campaign/run_folder.h"
#include "host/system_capture.h"
#include "interchange/read/reference_run.h"
#include "record/event_log.h"
#include "rulebook/power.h"

namespace assay::campaign {
namespace {

namespace fs = std::filesystem;

// A YAML or JSON file as a value; null for "".
Result<Json> read_answers(const std::string& path) {
  if (path.empty()) return Json();
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto node = yaml::parse(text);
  if (!node) return invalid(format("{}:{}", path, node.error().message));
  Json json = node->to_json();
  if (!json.is_object()) return invalid(format("{}: must be a map of answers", path));
  static constexpr std::string_view kKnown[] = {"system", "point", "points", "power", "launch"};
  for (const auto& [key, value] : json.members()) {
    if (std::ranges::find(kKnown, key) != std::end(kKnown)) continue;
    return invalid(
        format("{}: unknown part \"{}\"\n  there are system, point, points, power and "
               "launch",
               path, key));
  }
  return json;
}

class Packer {
 public:
  Packer(const PackRequest& request, const PackSource& source)
      : request_(request), source_(source) {}

  Result<PackedTree> pack() {
    std::error_code ignored;
    auto tree = StagedFolder::create(request_.out);
    if (!tree) return tree.error().within("--out");
    const fs::path& root = tree->path();
    for (const auto& [flag, folder] :
         {std::pair{"--src", &request_.src}, {"--docs", &request_.docs}}) {
      if (folder->empty() || fs::is_directory(*folder, ignored)) continue;
      return Error{Code::not_found, format("{}: '{}' is not a folder", flag, *folder)};
    }
    ASSIGN_OR_RETURN(answers_, read_answers(request_.answers));
    ASSIGN_OR_RETURN(node_, read_node());
    TRY(read_power());
    TRY(write_points(root));
    TRY(write_shared(root));
    TRY(write_sums(root));
    TRY(tree->commit());
    return PackedTree{.system = system_name(), .notes = std::move(notes_)};
  }

 private:
  Result<Json> read_node() const {
    if (request_.system.empty()) return host::capture_node();
    ASSIGN_OR_RETURN(const std::string text, read_file(request_.system));
    auto json = Json::parse(text);
    if (!json) return json.error().within(request_.system);
    return *std::move(json);
  }

  std::string system_name() const {
    return interchange::folder_name(answers_["system"]["system_name"].as_string("system"));
  }

  Json description(std::optional<double> utilization) const {
    return interchange::system_description(source_.curve, node_, answers_, utilization);
  }

  // Reads the power file and fills in its sums.
  Result<void> read_power() {
    power_ = answers_["power"];
    if (!request_.power.empty()) {
      ASSIGN_OR_RETURN(const std::string text, read_file(request_.power));
      auto json = Json::parse(text);
      if (!json) return json.error().within(request_.power);
      power_ = *std::move(json);
    }
    if (power_.is_null()) return {};
    // Defaults to the system's name.
    if (power_.is_object() && power_["system_desc_id"].as_string().empty()) {
      power_.set("system_desc_id", system_name());
    }
    sum_ = rulebook::compute_power(power_, description({}));
    for (const rulebook::PowerIssue& issue : sum_.errors) {
      notes_.push_back(
          format("system_power.json{}: {}; {}", issue.pointer, issue.found, issue.expected));
    }
    if (!sum_.good()) return {};
    power_
        .set("computed", Json()
                             .set("major_components_w", sum_.major_w)
                             .set("overhead_fraction", sum_.overhead_fraction)
                             .set("other_components_w", sum_.other_w)
                             .set("published_node_power_w", sum_.published_w)
                             .set("scale_out_switch_power_w", sum_.switch_w)
                             .set("total_system_power_w", sum_.total_w))
        .set("provisioned_power_kw", sum_.provisioned_kw())
        .set("mlc_estimated_power", !sum_.estimated.empty());
    return {};
  }

  std::optional<double> point_kw(const Json& yaml) const {
    if (power_.is_null() || !sum_.good()) return std::nullopt;
    std::vector<rulebook::NodesUsed> used;
    for (const Json& one : yaml["nodes_used"].items()) {
      used.push_back({one["system_node_ensemble_id"].as_int(), one["nodes"].as_int()});
    }
    return rulebook::point_power_kw(sum_, used);
  }

  // The reference client's summary calls it tps.
  static double system_tps(const Json& summary) {
    return summary["system_tps"].as_double(summary["tps"].as_double());
  }

  Result<void> write_points(const fs::path& root) {
    double most = 0;
    for (const auto& point : source_.points) {
      most = std::max(most, system_tps(point.summary));
    }
    const std::string model =
        std::string(answers_["point"]["model_name"].as_string(source_.curve.model));
    const fs::path system = root / "results" / system_name();
    for (std::size_t i = 0; i < source_.points.size(); ++i) {
      const interchange::PackedPoint& point = source_.points[i];
      const fs::path folder = system / interchange::folder_name(model) / point.name;
      const Json yaml = interchange::point_yaml(source_.curve, point, answers_);
      TRY(write_file_atomic(folder / "point.yaml", yaml::write(yaml)));
      std::optional<double> share;
      if (most > 0) {
        constexpr double kDigits = 1000;
        share = std::round(system_tps(point.summary) / most * kDigits) / kDigits;
      }
      TRY(write_json(folder / "system_desc.json", description(share)));
      TRY(write_json(folder / "result_summary.json",
                     interchange::packed_summary(point, point_kw(yaml))));
      if (!point.accuracy.is_null()) {
        constexpr std::size_t kResponses = 10'240;
        TRY(write_json(folder / "accuracy_results.json",
                       interchange::cut_responses(point.accuracy, kResponses)));
      }
      for (const char* name : {"config.yaml", "report.txt", "sample_idx_map.json",
                               "metrics/final_snapshot.json", "power.json"}) {
        TRY(copy_if_there(source_.runs[i] / name, folder / name));
      }
      TRY(write_warmup(source_.runs[i], root / "docs/warmup" / (point.name + ".jsonl")));
    }
    for (const fs::path& file : source_.audit_files) {
      TRY(copy_if_there(file,
                        system / interchange::folder_name(model) / "audit" / file.filename()));
    }
    if (!power_.is_null()) TRY(write_json(system / "system_power.json", power_));
    return {};
  }

  static Result<void> write_json(const fs::path& path, const Json& json) {
    return write_file_atomic(path, json.dump(2) + "\n");
  }

  static Result<void> copy_if_there(const fs::path& from, const fs::path& to) {
    std::error_code ignored;
    if (!fs::exists(from, ignored)) return {};
    ASSIGN_OR_RETURN(const std::string bytes, read_file(from));
    return write_file_atomic(to, bytes);
  }

  static Result<void> write_warmup(const fs::path& run, const fs::path& to) {
    // The reference client records no end of a warm-up query.
    if (interchange::is_reference_folder(run)) return {};
    ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(run)));
    ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
    interchange::WarmupLog log(info);
    TRY(record::replay_run(log_folder(run), log));
    return log.lines().empty() ? Result<void>() : write_file_atomic(to, log.lines());
  }

  // Copies plain files and folders. Links and other entries are left out: a submission must not
  // point outside itself.
  Result<void> copy_folder(const std::string& from, const fs::path& to) {
    std::error_code error;
    fs::create_directories(to, error);
    for (fs::recursive_directory_iterator it(from, error), end; !error && it != end;
         it.increment(error)) {
      const auto status = it->symlink_status(error);
      const fs::path place = to / it->path().lexically_relative(from);
      if (fs::is_directory(status)) {
        fs::create_directories(place, error);
      } else if (fs::is_regular_file(status)) {
        fs::copy_file(it->path(), place, error);
      } else {
        notes_.push_back(format("{}: left out: {}; copy what belongs to the submission",
                                it->path().string(),
                                fs::is_symlink(status) ? "a link" : "neither file nor folder"));
      }
      if (error) break;
    }
    if (error) return Error{code_of_errno(error.value()), format("{}: {}", from, error.message())};
    return {};
  }

  Result<void> write_shared(const fs::path& root) {
    if (!request_.docs.empty()) TRY(copy_folder(request_.docs, root / "docs"));
    if (!request_.src.empty()) {
      TRY(copy_folder(request_.src, root / "src" / source_.curve.implementation));
    }
    const Json system = description({});
    std::string command;
    for (const std::string& word : source_.command) command += (command.empty() ? "" : " ") + word;
    std::string text = format("# Software disclosure\n\nServing framework: {}\n\n",
                              system["serving_framework"].as_string("not said"));
    for (const Json& node : system["node_types"].items()) {
      text += format("Operating system: {}\n\nDriver: {}\n\n", node["operating_system"].as_string(),
                     node["driver"].as_string());
    }
    text += format("Measured with Assay {} by\n\n    {}\n", version(), command);
    for (const std::string& note : source_.notes) text += format("\n- {}\n", note);
    const fs::path disclosure = root / "docs" / "software_disclosure.md";
    std::error_code ignored;
    if (!fs::exists(disclosure, ignored)) TRY(write_file_atomic(disclosure, text));
    const fs::path readme = root / "src" / source_.curve.implementation / "README.md";
    if (!fs::exists(readme, ignored)) {
      TRY(write_file_atomic(
          readme, format("# How the endpoint is launched\n\n{}\n",
                         answers_["launch"].as_string("The submitter says it here (`launch:` in "
                                                      "the answers, or --src)."))));
    }
    return write_json(root / "cli_metadata.json", Json()
                                                      .set("command", "assay pack")
                                                      .set("cli_version", version())
                                                      .set("most_recent_cli_used", version())
                                                      .set("created_at", rfc3339(wall_now())));
  }

  // Lists every file with its digest, in sha256sum's format.
  static Result<void> write_sums(const fs::path& root) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), root).string());
    }
    if (error) return Error{Code::io, format("{}: {}", root.string(), error.message())};
    std::ranges::sort(names);
    std::string text;
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(const std::string bytes, read_file(root / name));
      text += format("{}  {}\n", sha256_hex(bytes), name);
    }
    return write_file_atomic(root / "SHA256SUMS", text);
  }

  const PackRequest& request_;
  const PackSource& source_;
  Json answers_{};
  Json node_{};
  Json power_{};
  rulebook::Power sum_{};
  std::vector<std::string> notes_{};
};

}  // namespace

Result<PackedTree> pack_tree(const PackRequest& request, const PackSource& source) {
  return Packer(request, source).pack();
}

}  // namespace assay::campaign
