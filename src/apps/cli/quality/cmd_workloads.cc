#include <algorithm>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "plan/workload.h"

namespace assay::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
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

void line(std::string_view label, std::string_view text) {
  print(format("{:<12}{}\n", label, text));
}

void show(const plan::Workload& workload, const std::vector<std::string>& editions) {
  const Json& data = workload.data;
  print(format("{}: {}\n\n", workload.name, workload.title));
  line("edition", format("{} (of {})", workload.edition, joined(editions)));
  line("model", data["model"]["id"].as_string());
  line("api", workload.api);
  line("prompt", data["prompt"].as_string());
  const Json& params = data["config"]["model_params"];
  std::string sampling;
  for (const auto& [key, value] : params.members()) {
    if (key == "name") continue;
    sampling += (sampling.empty() ? "" : ", ") + format("{} {}", key, value.dump());
  }
  if (!sampling.empty()) line("sampling", sampling);
  print("\ndatasets\n");
  for (const plan::WorkloadDataset& from : workload.datasets) {
    print(format("  {}: {} rows, file {}\n    columns {}\n    from {}\n", from.name,
                 with_thousands(static_cast<std::int64_t>(from.rows)), from.file, from.columns,
                 from.published));
    if (!from.prepare.empty()) print(format("    {}\n", from.prepare));
  }
  print("\nscenarios\n");
  for (const auto& [name, scenario] : data["scenarios"].members()) {
    print(format("  {:<14}{}\n", name, limits_text(scenario)));
    for (const Json& item : scenario["quality"].items()) {
      print(format("    {}\n", quality_text(item)));
    }
  }
  print("\naccuracy\n");
  for (const Json& item : data["quality"].items()) print(format("  {}\n", quality_text(item)));
  print(format("  scorer: {}\n", data["scorer"].as_string()));
  for (const auto& [key, value] : data["seeds"].members()) {
    print(format("{}  {} {}\n",
                 &value == &data["seeds"].members().front().second ? "\nseeds\n" : "", key,
                 value.dump()));
  }
  if (data["notes"].size() > 0) print("\nnotes\n");
  for (const Json& note : data["notes"].items()) print(format("  {}\n", note.as_string()));
  print("\nsources\n");
  for (const Json& source : data["sources"].items()) print(format("  {}\n", source.as_string()));
}

Json as_json(const plan::Workload& workload, const std::vector<std::string>& editions) {
  Json names = Json::array();
  for (const std::string& name : editions) names.push_back(name);
  Json out = Json::object();
  out.set("workload", workload.name).set("edition", workload.edition);
  out.set("editions", std::move(names));
  for (const auto& [key, value] : workload.data.members()) out.set(key, value);
  return out;
}

Result<void> list(const plan::Workloads& all, bool json) {
  Json rows = Json::array();
  for (const std::string& name : all.names()) {
    ASSIGN_OR_RETURN(const plan::Workload workload, all.find(name));
    ASSIGN_OR_RETURN(const std::vector<std::string> editions, all.editions_of(name));
    if (json) {
      rows.push_back(as_json(workload, editions));
      continue;
    }
    print(format("{:<22}{}\n{:<22}{}; {}\n", name, workload.title, "", joined(workload.scenarios()),
                 joined(editions)));
  }
  if (json) print(rows.dump(2) + "\n");
  return {};
}

}  // namespace

Result<int> cmd_workloads(Args args) {
  std::string name;
  std::string edition;
  bool json = false;
  bool config = false;
  std::string scenario;
  Flags flags("workloads", "the suites' benchmarks: datasets, limits and scores, by name");
  flags.add("NAME", &name, "show one: a name of the list, or a YAML file of your own");
  flags.add("--edition", &edition, "whose rules (the workload's first)").value("NAME");
  flags.add("--scenario", &scenario, "with --config: the load of this scenario too").value("NAME");
  flags.add("--config", &config, "print the config that assay run --workload uses");
  flags.add("--json", &json, "print everything as JSON");
  flags.example("assay workloads");
  flags.example("assay workloads deepseek-r1 --edition endpoints-v1.0");
  flags.example("assay run --workload llama3.1-8b --scenario server --rate 10 \\");
  flags.example("          --endpoint http://localhost:8000");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  const plan::Workloads all = plan::Workloads::builtin();
  if (name.empty()) {
    if (config || !edition.empty() || !scenario.empty()) {
      return invalid("--edition, --scenario and --config: are about one workload; name it");
    }
    TRY(list(all, json));
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const plan::Workload workload, all.find(name, edition));
  if (config) {
    ASSIGN_OR_RETURN(const std::string text,
                     plan::run_config(workload, scenario, plan::dataset_folder()));
    print(text);
    return exit_code(ExitCode::done);
  }
  auto editions = all.editions_of(name);
  if (!editions) editions = std::vector<std::string>{workload.edition};
  if (json) {
    print(as_json(workload, *editions).dump(2) + "\n");
  } else {
    show(workload, *editions);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
