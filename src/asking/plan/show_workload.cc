#include "plan/show_workload.h"

#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/text.h"
#include "plan/workload.h"

namespace assay::plan {
namespace {

std::string comma_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// "ttft_ms_p99 2000, tpot_ms_p99 80"
std::string limits_text(const Json& scenario) {
  std::string out;
  for (const auto& [name, value] : scenario["limits"].members()) {
    if (!out.empty()) out += ", ";
    out += format("{} ≤ {}", name, value.dump());
  }
  if (const auto least = scenario["queries_min"].as_int(0); least > 0) {
    out += format("{}at least {} queries", out.empty() ? "" : "; ", with_thousands(least));
  }
  if (scenario["required"].as_bool(false)) out += out.empty() ? "required" : "; required";
  return out.empty() ? "no limit" : out;
}

std::string quality_text(const Json& item) {
  std::string out =
      format("{}: reference {}", item["metric"].as_string(), item["reference"].dump());
  if (item["at_least"].is_number()) out += format(", at least {}", item["at_least"].dump());
  if (item["at_most"].is_number()) out += format(", at most {}", item["at_most"].dump());
  if (item["of"].is_string()) out += format(" ({})", item["of"].as_string());
  return out;
}

void workload_line(std::string_view label, std::string_view text, const Talk& talk) {
  talk.print(format("{:<12}{}\n", label, text));
}

void show_workload(const Workload& workload, const std::vector<std::string>& editions,
                   const Talk& talk) {
  const Json& data = workload.data;
  talk.print(format("{}: {}\n\n", workload.name, workload.title));
  workload_line("edition", format("{} (of {})", workload.edition, comma_words(editions)), talk);
  workload_line("model", data["model"]["id"].as_string(), talk);
  workload_line("api", workload.api, talk);
  workload_line("prompt", data["prompt"].as_string(), talk);
  const Json& params = data["config"]["model_params"];
  std::string sampling;
  for (const auto& [key, value] : params.members()) {
    if (key == "name") continue;
    sampling += (sampling.empty() ? "" : ", ") + format("{} {}", key, value.dump());
  }
  if (!sampling.empty()) workload_line("sampling", sampling, talk);
  talk.print("\ndatasets\n");
  for (const WorkloadDataset& from : workload.datasets) {
    talk.print(format("  {}: {} rows, file {}\n    columns {}\n    from {}\n", from.name,
                      with_thousands(static_cast<std::int64_t>(from.rows)), from.file, from.columns,
                      from.published));
    if (!from.prepare.empty()) talk.print(format("    {}\n", from.prepare));
  }
  talk.print("\nscenarios\n");
  for (const auto& [name, scenario] : data["scenarios"].members()) {
    talk.print(format("  {:<14}{}\n", name, limits_text(scenario)));
    for (const Json& item : scenario["quality"].items()) {
      talk.print(format("    {}\n", quality_text(item)));
    }
  }
  talk.print("\naccuracy\n");
  for (const Json& item : data["quality"].items()) talk.print(format("  {}\n", quality_text(item)));
  talk.print(format("  scorer: {}\n", data["scorer"].as_string()));
  for (const auto& [key, value] : data["seeds"].members()) {
    talk.print(format("{}  {} {}\n",
                      &value == &data["seeds"].members().front().second ? "\nseeds\n" : "", key,
                      value.dump()));
  }
  if (data["notes"].size() > 0) talk.print("\nnotes\n");
  for (const Json& note : data["notes"].items()) talk.print(format("  {}\n", note.as_string()));
  talk.print("\nsources\n");
  for (const Json& source : data["sources"].items())
    talk.print(format("  {}\n", source.as_string()));
}

Json workload_json(const Workload& workload, const std::vector<std::string>& editions) {
  Json out = Json::object();
  out.set("workload", workload.name).set("edition", workload.edition);
  out.set("editions", json_list(editions));
  for (const auto& [key, value] : workload.data.members()) out.set(key, value);
  return out;
}

Result<void> list_workloads(const Workloads& all, bool json, const Talk& talk) {
  Json rows = Json::array();
  for (const std::string& name : all.names()) {
    ASSIGN_OR_RETURN(const Workload workload, all.find(name));
    ASSIGN_OR_RETURN(const std::vector<std::string> editions, all.editions_of(name));
    if (json) {
      rows.push_back(workload_json(workload, editions));
      continue;
    }
    talk.print(format("{:<22}{}\n{:<22}{}; {}\n", name, workload.title, "",
                      comma_words(workload.scenarios()), comma_words(editions)));
  }
  if (json) talk.print(rows.dump(2) + "\n");
  return {};
}

}  // namespace

Result<int> show_workloads(const ShownWorkload& options, const Talk& talk) {
  const Workloads all = Workloads::builtin();
  if (options.name.empty()) {
    if (options.config || !options.edition.empty() || !options.scenario.empty()) {
      return invalid("--edition, --scenario and --config: apply to one workload; name it");
    }
    TRY(list_workloads(all, options.json, talk));
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const Workload workload, all.find(options.name, options.edition));
  if (options.config) {
    ASSIGN_OR_RETURN(const std::string text,
                     run_config(workload, options.scenario, dataset_folder()));
    talk.print(text);
    return exit_code(ExitCode::done);
  }
  auto editions = all.editions_of(options.name);
  if (!editions) editions = std::vector<std::string>{workload.edition};
  if (options.json) {
    talk.print(workload_json(workload, *editions).dump(2) + "\n");
  } else {
    show_workload(workload, *editions, talk);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::plan
