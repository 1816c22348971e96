#include "rules/check_tree.h"

#include <algorithm>
#include <array>

#include "rules/catalogue.h"
#include "rules/read_tree.h"

namespace assay::rules {
namespace {

// Rules that edition v0.7 has for its own layout; the others need files and fields that it lacked.
constexpr std::array<std::string_view, 30> kParetoRules{"path-exists",
                                                        "tree-readable",
                                                        "pareto-layout",
                                                        "measurement-points-present",
                                                        "point-rules-skipped",
                                                        "system-description-valid",
                                                        "max-concurrency-declared",
                                                        "region-basis",
                                                        "region-computation",
                                                        "concurrency-in-range",
                                                        "region-declared",
                                                        "region-placement",
                                                        "ultra-low-concurrency-coverage",
                                                        "low-concurrency-coverage",
                                                        "med-concurrency-coverage",
                                                        "high-concurrency-coverage",
                                                        "point-count",
                                                        "point-cap",
                                                        "point-config-valid",
                                                        "load-pattern",
                                                        "streaming-config",
                                                        "point-duration",
                                                        "config-consistency-dataset",
                                                        "result-file-valid",
                                                        "metric-consistency-duration",
                                                        "metric-consistency-accounting",
                                                        "metric-consistency-output-tokens",
                                                        "metric-consistency-system-tps",
                                                        "metric-consistency-tps-per-user",
                                                        "pareto-accuracy"};

class Inquiry {
 public:
  Inquiry(const Submission& tree, CheckReport& report) : tree_(tree), report_(report) {}

  void ask_all() {
    for (const Rule& rule : catalogue()) {
      if (rule.group == "review" && !review_) continue;
      if (rule.group == "plausibility" && !plausibility_) continue;
      RuleOutcome outcome{.rule = &rule};
      const std::size_t before = report_.findings.size();
      if (worth_asking(rule)) ask(rule, outcome);
      for (std::size_t i = before; i < report_.findings.size(); ++i) {
        switch (report_.findings[i].severity) {
          case Severity::error:
            ++outcome.errors;
            break;
          case Severity::warning:
            ++outcome.warnings;
            break;
          case Severity::info:
            ++outcome.infos;
            break;
        }
      }
      report_.rules.push_back(outcome);
    }
  }

  void without_review() { review_ = false; }
  void without_plausibility() { plausibility_ = false; }

 private:
  // Without a path or without results/, the other rules would only repeat that finding.
  bool worth_asking(const Rule& rule) const {
    if (rule.id == "path-exists") return true;
    if (!tree_.exists) return false;
    // A published description has another form, which no edition defines.
    if (tree_.published && rule.id == "system-description-valid") return false;
    if (tree_.pareto) {
      return std::ranges::find(kParetoRules, rule.id) != kParetoRules.end();
    }
    return tree_.has_results || rule.group == "structure";
  }

  void ask(const Rule& rule, RuleOutcome& outcome) {
    if (rule.level == Level::tree) return ask_one(rule, {.tree = tree_}, outcome);
    for (const System& system : tree_.systems) {
      if (rule.level == Level::system) {
        ask_one(rule, {.tree = tree_, .system = &system}, outcome);
        continue;
      }
      for (const Curve& curve : system.curves) ask_curve(rule, system, curve, outcome);
    }
  }

  void ask_curve(const Rule& rule, const System& system, const Curve& curve, RuleOutcome& outcome) {
    if (rule.level == Level::curve) {
      // A curve without points has one fault, which point-dirs reports.
      if (curve.points.empty() && rule.id != "point-dirs") return;
      return ask_one(rule, {.tree = tree_, .system = &system, .curve = &curve}, outcome);
    }
    for (const PointFolder& point : curve.points) {
      if (rule.needs != Needs::any_point && !point.usable()) continue;
      if (rule.needs == Needs::measured_point && !point.measured()) continue;
      ask_one(rule, {.tree = tree_, .system = &system, .curve = &curve, .point = &point}, outcome);
    }
  }

  void ask_one(const Rule& rule, const Scope& scope, RuleOutcome& outcome) {
    Out out(rule, report_.findings);
    rule.check(scope, out);
    outcome.asked += out.applicable() ? 1 : 0;
  }

  const Submission& tree_;
  CheckReport& report_;
  bool review_ = true;
  bool plausibility_ = true;
};

// Replaces the edition's list; a rule of its own reports a broken file.
template <typename T>
std::string replace_list(std::vector<T>& list,
                         Result<std::vector<T>> (*read)(const std::filesystem::path&),
                         const std::filesystem::path& file) {
  if (file.empty()) return {};
  auto read_list = read(file);
  if (!read_list) return read_list.error().message;
  list = std::move(*read_list);
  return {};
}

void read_logs(Submission& tree) {
  for (System& system : tree.systems) {
    for (Curve& curve : system.curves) {
      for (PointFolder& point : curve.points) {
        if (point.events.empty()) continue;
        const std::string_view dataset = point.point.at("/dataset").as_string();
        point.log = summarise_events(tree.root / point.events, tree.edition.samples_of(dataset));
      }
    }
  }
}

}  // namespace

void Out::say(Severity severity, Place where, std::string found, std::string expected,
              std::string fix) {
  findings_.push_back({.rule = rule_.id,
                       .clause = rule_.clause,
                       .severity = severity,
                       .action = rule_.action,
                       .found = std::move(found),
                       .expected = std::move(expected),
                       .where = std::move(where),
                       .fix = fix.empty() ? std::string(rule_.fix) : std::move(fix)});
}

int CheckReport::count(Severity severity) const {
  return static_cast<int>(std::ranges::count(findings, severity, &Finding::severity));
}

bool CheckReport::clean(bool strict) const {
  return count(Severity::error) == 0 && (!strict || count(Severity::warning) == 0);
}

Result<CheckReport> check_tree(const std::filesystem::path& path, const CheckOptions& options) {
  ASSIGN_OR_RETURN(rulebook::Edition edition, rulebook::edition_named(options.edition));
  const std::string seeds = replace_list(edition.seed_sets, read_seed_sets, options.seed_sets);
  const std::string drafters = replace_list(edition.drafters, read_drafters, options.drafters);
  Submission tree = read_tree(path, std::move(edition));
  tree.seed_list_trouble = seeds;
  tree.drafter_list_trouble = drafters;
  if (options.review) read_logs(tree);

  CheckReport report{.path = path.string()};
  report.usable = tree.exists && tree.has_results;
  report.edition = tree.edition.name;
  report.systems = static_cast<int>(tree.systems.size());
  for (const System& system : tree.systems) {
    report.curves += static_cast<int>(system.curves.size());
    for (const Curve& curve : system.curves) report.points += static_cast<int>(curve.points.size());
  }
  Inquiry inquiry(tree, report);
  if (!options.review) inquiry.without_review();
  if (!options.plausibility) inquiry.without_plausibility();
  inquiry.ask_all();
  for (Finding& finding : report.findings) {
    if (!tree.below.empty() && !finding.where.file.empty()) {
      finding.where.file = tree.below + "/" + finding.where.file;
    }
  }
  return report;
}

}  // namespace assay::rules
