#include "rules/inference/check.h"

#include <algorithm>

#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

Rules inference_rules() {
  Rules out;
  for (const auto add : {add_structure, add_system, add_measurements, add_performance, add_latency,
                         add_accuracy, add_compliance, add_power}) {
    add(out);
  }
  return out;
}

class Asking {
 public:
  Asking(const Tree& tree, CheckReport& report) : tree_(tree), report_(report) {}

  void ask(const InferenceRule& rule) {
    outcome_ = {.rule = &rule.rule};
    const std::size_t before = report_.findings.size();
    if (rule.subject == Subject::tree) {
      look(rule, {.tree = tree_});
    } else {
      for (const SubmitterFolder& submitter : tree_.submitters) ask_submitter(rule, submitter);
    }
    for (std::size_t i = before; i < report_.findings.size(); ++i) {
      const Severity severity = report_.findings[i].severity;
      ++(severity == Severity::error     ? outcome_.errors
         : severity == Severity::warning ? outcome_.warnings
                                         : outcome_.infos);
    }
    report_.rules.push_back(outcome_);
  }

 private:
  void ask_submitter(const InferenceRule& rule, const SubmitterFolder& submitter) {
    At at{.tree = tree_, .submitter = &submitter};
    if (rule.subject == Subject::submitter) return look(rule, at);
    for (const SystemFolder& system : submitter.systems) {
      at.system = &system;
      if (rule.subject == Subject::system) {
        look(rule, at);
        continue;
      }
      for (const ModelFolder& model : system.models) ask_model(rule, at, model);
    }
  }

  void ask_model(const InferenceRule& rule, const At& above, const ModelFolder& model) {
    At at{.tree = tree_, .submitter = above.submitter, .system = above.system, .model = &model};
    if (rule.subject == Subject::model) return look(rule, at);
    for (const ResultFolder& result : model.results) {
      at.result = &result;
      look(rule, at);
    }
  }

  void look(const InferenceRule& rule, const At& at) {
    Out out(rule.rule, report_.findings);
    rule.check(at, out);
    outcome_.asked += out.applicable() ? 1 : 0;
  }

  const Tree& tree_;
  CheckReport& report_;
  RuleOutcome outcome_{};
};

}  // namespace

const std::vector<InferenceRule>& catalogue() {
  static const std::vector<InferenceRule> kRules = inference_rules();
  return kRules;
}

Result<CheckReport> check_inference(const std::filesystem::path& path,
                                    const InferenceOptions& options) {
  ASSIGN_OR_RETURN(rulebook::InferenceRound round, rulebook::inference_round(options.round));
  const Tree tree = read(path, std::move(round), options.submitter);
  CheckReport report{.path = path.string()};
  report.edition = tree.round.name;
  report.inference = true;
  for (const SubmitterFolder& submitter : tree.submitters) {
    report.systems += static_cast<int>(submitter.systems.size());
    for (const SystemFolder& system : submitter.systems) {
      report.curves += static_cast<int>(system.models.size());
      for (const ModelFolder& model : system.models) {
        report.points += static_cast<int>(model.results.size());
      }
    }
  }
  report.usable = tree.exists && report.systems > 0;
  Asking asking(tree, report);
  for (const InferenceRule& rule : catalogue()) asking.ask(rule);
  return report;
}

}  // namespace assay::rules::inference
