// Where things lie: divisions, submitters, models, scenarios.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

void check_structure_path(const At& at, Out& out) {
  if (!at.tree.exists) out.error({}, "no such folder", "the root of a submission");
}

void check_structure_readable(const At& at, Out& out) {
  for (const Finding& trouble : at.tree.troubles) {
    out.error(trouble.where, trouble.found, trouble.expected);
  }
}

void check_structure_divisions(const At& at, Out& out) {
  if (!at.tree.exists) return out.not_applicable();
  const auto any = [](const SubmitterFolder& one) { return !one.systems.empty(); };
  if (std::ranges::any_of(at.tree.submitters, any)) return;
  out.error({}, "no results", "closed/, open/ or network/ with <submitter>/results/<system>/");
}

void check_structure_results_dir(const At& at, Out& out) {
  if (!at.submitter->has_results) {
    out.error({at.submitter->path, 0}, "no folder results/",
              "results/<system>/<model>/<Scenario>/");
  }
}

void check_structure_code(const At& at, Out& out) {
  const Folder& code = at.submitter->code;
  if (!code.present) out.error({code.path, 0}, "no such folder", "the implementation's code");
}

void check_structure_mapping(const At& at, Out& out) {
  const Document& mapping = at.submitter->model_mapping;
  if (mapping.absent()) return out.not_applicable();
  if (mapping.broken()) return out.error(mapping.place(), mapping.trouble(), "a JSON object");
  for (const auto& [own, official] : mapping.root().members()) {
    if (at.tree.round.model(official.as_string()) == nullptr) {
      out.error(mapping.place(pointer_to("", own)), said(official),
                "a model of round " + at.tree.round.name);
    }
  }
}

void check_structure_model(const At& at, Out& out) {
  if (at.model->official != nullptr) return;
  std::string known;
  for (const auto& model : at.tree.round.models) known += (known.empty() ? "" : ", ") + model.name;
  out.error({at.model->path, 0},
            "\"" + at.model->name + "\" is not a model of round " + at.tree.round.name, known);
}

std::set<std::string> scenarios_there(const ModelFolder& model) {
  std::set<std::string> out;
  for (const ResultFolder& result : model.results) out.insert(lower(result.scenario));
  return out;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// The open division may submit any scenarios.
const std::vector<std::string>* scenarios(
    const At& at, const std::map<std::string, std::vector<std::string>>& by_kind, Out& out) {
  const auto found = by_kind.find(at.system->kind());
  if (at.open() || at.model->official == nullptr || found == by_kind.end()) {
    out.not_applicable();
    return nullptr;
  }
  return &found->second;
}

void check_structure_required(const At& at, Out& out) {
  if (at.model->official == nullptr) return out.not_applicable();
  const auto* const required = scenarios(at, at.model->official->required, out);
  if (required == nullptr) return;
  const std::set<std::string> there = scenarios_there(*at.model);
  if (required->empty()) {
    return out.error(
        {at.model->path, 0},
        at.model->official->name + " is not measured on a system of type " + at.system->kind(),
        "a model of that type");
  }
  for (const std::string& scenario : *required) {
    if (there.count(lower(scenario)) > 0) continue;
    out.error({at.model->path, 0}, "no scenario " + scenario, joined(*required));
  }
}

void check_structure_one_of(const At& at, Out& out) {
  if (at.model->official == nullptr) return out.not_applicable();
  const auto* const optional = scenarios(at, at.model->official->optional, out);
  if (optional == nullptr) return;
  if (std::ranges::find(*optional, "Interactive") == optional->end() ||
      std::ranges::find(*optional, "Server") == optional->end()) {
    return out.not_applicable();
  }
  const std::set<std::string> there = scenarios_there(*at.model);
  if (there.count("interactive") > 0 || there.count("server") > 0) return;
  out.error({at.model->path, 0}, "neither Server nor Interactive", "one of the two, or both");
}

void check_structure_known(const At& at, Out& out) {
  if (at.model->official == nullptr) return out.not_applicable();
  const auto* const required = scenarios(at, at.model->official->required, out);
  if (required == nullptr) return;
  std::vector<std::string> all = *required;
  const auto& optional = at.model->official->optional.at(at.system->kind());
  all.insert(all.end(), optional.begin(), optional.end());
  for (const ResultFolder& result : at.model->results) {
    const auto same = [&](const std::string& one) { return lower(one) == lower(result.scenario); };
    if (std::ranges::any_of(all, same)) continue;
    out.error({result.path, 0}, "\"" + result.scenario + "\" is not a scenario of this model",
              joined(all));
  }
}

void check_structure_of_endpoints(const At& at, Out& out) {
  if (!at.result->of_endpoints) return out.not_applicable();
  out.warning({at.result->path, 0}, "a result of the Endpoints client in a tree of Inference",
              "logs of LoadGen; system and measurements are checked, the result is not",
              "check this result with the official checker");
}

}  // namespace

void add_structure(Rules& rules) {
  const auto add = [&](std::string_view id, Subject subject, Severity severity,
                       std::string_view clause, std::string_view demand, std::string_view fix,
                       void (*check)(const At&, Out&)) {
    rules.push_back({{.id = id,
                      .group = "structure",
                      .severity = severity,
                      .action = Action::reject_submission,
                      .clause = clause,
                      .demand = demand,
                      .fix = fix},
                     subject,
                     check});
  };
  add("inf-path", Subject::tree, Severity::error, "submission_structure", "the folder exists",
      "give the folder that holds closed/, open/ or network/", check_structure_path);
  add("inf-readable", Subject::tree, Severity::error, "submission_structure",
      "the tree can be read whole", "split the submission", check_structure_readable);
  add("inf-division", Subject::tree, Severity::error, "submission_structure",
      "a division's folder holds results",
      "lay results out as <division>/<submitter>/results/<system>/<model>/<Scenario>/",
      check_structure_divisions);
  add("inf-results-dir", Subject::submitter, Severity::error, "submission_structure",
      "a submitter has results/", "put the results below results/", check_structure_results_dir);
  add("inf-code", Subject::submitter, Severity::error,
      "checker: MeasurementsCheck.directory_exist_check",
      "the implementation's code lies in src/ (before v6.0: code/)",
      "put the code there, or a README that says where it is", check_structure_code);
  add("inf-model-mapping", Subject::submitter, Severity::error, "checker: Config.get_mlperf_model",
      "model_mapping.json maps own names to models of the round",
      "map each own name to the model whose dataset and target it uses", check_structure_mapping);
  add("inf-model", Subject::model, Severity::error, "checker: Config.get_mlperf_model",
      "the folder's name is a model of the round",
      "rename the folder; in open, map the name in model_mapping.json", check_structure_model);
  add("inf-scenario-required", Subject::model, Severity::error, "checker: Loader.check_scenarios",
      "all required scenarios of the system's type are there", "measure the missing scenario",
      check_structure_required);
  add("inf-scenario-one-of", Subject::model, Severity::error, "checker: Loader.check_scenarios",
      "one of Server and Interactive is there where both are optional", "measure one of the two",
      check_structure_one_of);
  add("inf-scenario-known", Subject::model, Severity::error, "checker: Loader.check_scenarios",
      "no scenario is there that the model does not have", "take the folder out",
      check_structure_known);
  add("inf-endpoints-form", Subject::result, Severity::warning, "checker: EndpointsParser",
      "a result has logs of LoadGen", "check this result with the official checker",
      check_structure_of_endpoints);
}

}  // namespace assay::rules::inference
