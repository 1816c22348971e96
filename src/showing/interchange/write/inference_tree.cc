#include "interchange/write/inference_tree.h"

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"

namespace assay::interchange {
namespace {

namespace fs = std::filesystem;
using yaml::Node;

constexpr std::size_t kPlanBytesMax = std::size_t{4} << 20;
constexpr std::size_t kLogBytesMax = std::size_t{4} << 30;
constexpr std::size_t kWholeMax = 10'240;
constexpr std::size_t kViewed = 4096;
constexpr std::size_t kFilesMax = 100'000;  // of src/
constexpr std::string_view kSummary = "mlperf_log_summary.txt";
constexpr std::string_view kDetail = "mlperf_log_detail.txt";
constexpr std::string_view kAccuracy = "mlperf_log_accuracy.json";

class Packer {
 public:
  Packer(fs::path plan, fs::path out) : plan_(std::move(plan)), out_(std::move(out)) {}

  Result<PackedInference> pack() {
    ASSIGN_OR_RETURN(const std::string text, read_file(plan_, kPlanBytesMax));
    auto parsed = yaml::parse(text);
    if (!parsed) return parsed.error().within(plan_.string());
    TRY(only(*parsed, {"division", "submitter", "src", "systems", "model_mapping"}));
    ASSIGN_OR_RETURN(const std::string division, name_in(*parsed, "division"));
    if (division != "closed" && division != "open" && division != "network") {
      return bad(*parsed->find("division"), "division: closed, open or network");
    }
    ASSIGN_OR_RETURN(const std::string submitter, name_in(*parsed, "submitter"));
    top_ = out_ / division / submitter;
    ASSIGN_OR_RETURN(const fs::path code, path_in(*parsed, "src"));
    TRY(copy_folder(code, top_ / "src"));
    if (const Node* const mapping = parsed->find("model_mapping")) {
      TRY(write(top_ / "model_mapping.json", mapping->to_json().dump(2) + "\n"));
    }
    ASSIGN_OR_RETURN(const Node* const systems, map_in(*parsed, "systems"));
    for (const auto& [key, system] : systems->members) {
      TRY(pack_system(key, system, division, submitter));
    }
    return std::move(done_);
  }

 private:
  Error bad(const Node& at, const std::string& why) const {
    return Error{Code::invalid, format("{}:{}: {}", plan_.string(), at.line, why)};
  }

  Result<void> only(const Node& map, std::vector<std::string_view> keys) const {
    for (const auto& [key, value] : map.members) {
      if (std::ranges::find(keys, key.name) != keys.end()) continue;
      const std::string_view near = nearest(key.name, keys);
      return bad(Node::scalar("", key.line),
                 format("unknown key \"{}\"{}", key.name,
                        near.empty() ? "" : format("; did you mean \"{}\"?", near)));
    }
    return {};
  }

  // A folder's name in the tree.
  Result<void> plain(const yaml::Key& key) const {
    if (is_plain_id(key.name)) return {};
    return bad(Node::scalar("", key.line), format("\"{}\": {}", key.name, kPlainId));
  }

  Result<const Node*> map_in(const Node& map, std::string_view key) const {
    const Node* const found = map.find(key);
    if (found == nullptr || !found->is_map()) return bad(map, format("{}: needed, a map", key));
    return found;
  }

  Result<std::string> name_in(const Node& map, std::string_view key) const {
    const Node* const found = map.find(key);
    if (found == nullptr || !found->is_scalar()) return bad(map, format("{}: needed", key));
    if (!is_plain_id(found->text)) return bad(*found, format("{}: {}", key, kPlainId));
    return found->text;
  }

  Result<fs::path> path_in(const Node& map, std::string_view key) const {
    const Node* const found = map.find(key);
    if (found == nullptr || !found->is_scalar()) return bad(map, format("{}: needed, a path", key));
    const fs::path path = plan_.parent_path() / found->text;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      return bad(*found, format("{}: {}: no such file or folder", key, path.string()));
    }
    return path;
  }

  static Result<void> write(const fs::path& to, std::string_view bytes) {
    return write_file_atomic(to, bytes);
  }

  static Result<void> copy(const fs::path& from, const fs::path& to) {
    ASSIGN_OR_RETURN(const std::string bytes, read_file(from, kLogBytesMax));
    return write(to, bytes);
  }

  // The files named of a folder; the first `needed` of them must be there.
  static Result<void> copy_files(const fs::path& from, const fs::path& to,
                                 const std::vector<std::string_view>& names, std::size_t needed) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::error_code ignored;
      if (i >= needed && !fs::exists(from / names[i], ignored)) continue;
      TRY(copy(from / names[i], to / names[i]));
    }
    return {};
  }

  // Links are not followed.
  static Result<void> copy_folder(const fs::path& from, const fs::path& to) {
    std::error_code error;
    if (!fs::is_directory(from, error)) {
      return invalid(format("{}: is not a folder", from.string()));
    }
    std::size_t files = 0;
    for (fs::recursive_directory_iterator it(from, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_symlink(error) || !it->is_regular_file(error)) continue;
      if (++files > kFilesMax) {
        return invalid(format("{}: more than {} files", from.string(), kFilesMax));
      }
      TRY(copy(it->path(), to / it->path().lexically_relative(from)));
    }
    if (error) return errno_error(from.string());
    return make_folders(to);
  }

  // A JSON file, or the fields themselves.
  Result<Json> fields_in(const Node& map, std::string_view key) const {
    const Node* const found = map.find(key);
    if (found != nullptr && found->is_map()) return found->to_json();
    ASSIGN_OR_RETURN(const fs::path path, path_in(map, key));
    ASSIGN_OR_RETURN(Json json, read_json_file(path));
    if (!json.is_object()) return bad(*found, format("{}: no JSON object", path.string()));
    return json;
  }

  Result<void> pack_system(const yaml::Key& key, const Node& system, const std::string& division,
                           const std::string& submitter) {
    TRY(plain(key));
    if (!system.is_map()) return bad(system, "a system: description and results");
    TRY(only(system, {"description", "results", "nameplates"}));
    ASSIGN_OR_RETURN(Json description, fields_in(system, "description"));
    description.set("division", division).set("submitter", submitter);
    TRY(write(top_ / "systems" / (key.name + ".json"), description.dump(2) + "\n"));
    if (system.find("nameplates") != nullptr) {
      ASSIGN_OR_RETURN(const fs::path file, path_in(system, "nameplates"));
      TRY(copy(file, top_ / "systems" / (key.name + "_power.yaml")));
    }
    ++done_.systems;
    ASSIGN_OR_RETURN(const Node* const models, map_in(system, "results"));
    for (const auto& [model, scenarios] : models->members) {
      TRY(plain(model));
      if (!scenarios.is_map()) return bad(scenarios, "a model: its scenarios");
      for (const auto& [scenario, result] : scenarios.members) {
        TRY(plain(scenario));
        if (!result.is_map()) return bad(result, "a scenario: its logs");
        TRY(pack_result(top_ / "results" / key.name / model.name / scenario.name, result));
      }
    }
    return {};
  }

  // The logs that `key` names: the folder itself, or `part` of a run's folder. A test through
  // LoadGen's interface may have its event log and its logs in one folder.
  Result<fs::path> logs_in(const Node& map, std::string_view key, std::string_view part) const {
    ASSIGN_OR_RETURN(fs::path path, path_in(map, key));
    std::error_code ignored;
    if (fs::exists(path / kDetail, ignored)) return path;
    if (fs::is_directory(path / "assay", ignored)) path /= part;
    return path;
  }

  Result<void> pack_result(const fs::path& to, const Node& result) {
    TRY(only(result, {"performance", "accuracy", "measurements", "user_conf", "readme", "tests"}));
    ASSIGN_OR_RETURN(const fs::path run, logs_in(result, "performance", "performance"));
    TRY(copy_files(run, to / "performance/run_1", {kSummary, kDetail}, 2));
    ASSIGN_OR_RETURN(const fs::path accuracy, logs_in(result, "accuracy", "accuracy"));
    TRY(pack_accuracy(accuracy, to / "accuracy"));
    ASSIGN_OR_RETURN(const Json measurements, fields_in(result, "measurements"));
    TRY(write(to / "measurements.json", measurements.dump(2) + "\n"));
    ASSIGN_OR_RETURN(const fs::path conf, path_in(result, "user_conf"));
    TRY(copy(conf, to / "user.conf"));
    ASSIGN_OR_RETURN(const fs::path readme, path_in(result, "readme"));
    TRY(copy(readme, to / "README.md"));
    if (result.find("tests") != nullptr) {
      ASSIGN_OR_RETURN(const Node* const tests, map_in(result, "tests"));
      for (const auto& [key, test] : tests->members) TRY(pack_test(to, key, test));
    }
    ++done_.results;
    return {};
  }

  Result<void> pack_accuracy(const fs::path& from, const fs::path& to) {
    TRY(copy_files(from, to, {kSummary, kDetail}, 2));
    ASSIGN_OR_RETURN(const std::string log, read_file(from / kAccuracy, kLogBytesMax));
    TRY(write(to / kAccuracy, truncated_accuracy_log(log)));
    ASSIGN_OR_RETURN(std::string text, read_file(from / "accuracy.txt", kPlanBytesMax));
    const auto lines = split(text, '\n');
    const auto hashed = [](std::string_view line) { return line.starts_with("hash="); };
    if (std::ranges::none_of(lines, hashed)) {
      if (!text.empty() && !text.ends_with('\n')) text += '\n';
      text += "hash=" + sha256_hex(log) + "\n";
    } else if (log.size() > kWholeMax) {
      done_.notes.push_back((from / "accuracy.txt").string() +
                            ": its hash is kept; it must be that of the whole log");
    }
    TRY(write(to / "accuracy.txt", text));
    for (const std::string folder : {"images", "videos"}) {
      std::error_code ignored;
      if (fs::is_directory(from / folder, ignored)) TRY(copy_folder(from / folder, to / folder));
    }
    return {};
  }

  // `verdict`: what the test's script, or `assay loadgen compliance --out`, wrote; `logs`: of its
  // run, where the test asks for them.
  Result<void> pack_test(const fs::path& to, const yaml::Key& key, const Node& test) {
    TRY(plain(key));
    if (!test.is_map()) return bad(test, "a test: verdict, and logs for TEST01 and TEST04");
    TRY(only(test, {"verdict", "logs"}));
    ASSIGN_OR_RETURN(const fs::path verdict, path_in(test, "verdict"));
    TRY(copy_files(verdict, to / key.name,
                   {"verify_accuracy.txt", "verify_performance.txt", "verify_output_len.txt"}, 0));
    std::error_code ignored;
    if (fs::is_directory(verdict / "accuracy", ignored)) {
      TRY(copy_files(verdict / "accuracy", to / key.name / "accuracy",
                     {"accuracy.txt", "baseline_accuracy.txt", "compliance_accuracy.txt"}, 0));
      if (fs::exists(verdict / "accuracy" / kAccuracy, ignored)) {
        ASSIGN_OR_RETURN(const std::string log,
                         read_file(verdict / "accuracy" / kAccuracy, kLogBytesMax));
        TRY(write(to / key.name / "accuracy" / kAccuracy, truncated_accuracy_log(log)));
      }
    }
    if (test.find("logs") == nullptr) return {};
    ASSIGN_OR_RETURN(const fs::path logs, logs_in(test, "logs", "performance"));
    return copy_files(logs, to / key.name / "performance/run_1", {kSummary, kDetail}, 2);
  }

  const fs::path plan_;
  const fs::path out_;
  fs::path top_{};  // <division>/<submitter>
  PackedInference done_{};
};

}  // namespace

std::string truncated_accuracy_log(const std::string& whole) {
  if (whole.size() <= kWholeMax) return whole;
  return whole.substr(0, kViewed) + "\n\n...\n\n" + whole.substr(whole.size() - kViewed);
}

Result<PackedInference> pack_inference(const fs::path& plan, const fs::path& out) {
  std::error_code error;
  if (fs::exists(out, error)) return invalid(format("{}: exists already", out.string()));
  fs::path part = out;
  part += ".part";
  fs::remove_all(part, error);
  auto packed = Packer(plan, part).pack();
  if (packed) {
    fs::rename(part, out, error);
    if (error) return invalid(format("{}: {}", out.string(), error.message()));
    return packed;
  }
  fs::remove_all(part, error);
  return packed.error();
}

}  // namespace assay::interchange
