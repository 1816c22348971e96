// InferenceRule: one requirement on a submission to MLPerf Inference: what it demands, from where,
// how to mend a violation, and the function that looks. The catalogue lists all of them.
//
// A rule is an error where the official submission checker refuses, or where the rules leave no
// doubt and that checker does not look (docs/guide/check.md lists these); else a warning.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rules/inference/tree.h"
#include "rules/rule.h"

namespace assay::rules::inference {

// Pointers of a rule's own subject and of those above it are set; those below are null.
struct At {
  const Tree& tree;
  const SubmitterFolder* submitter = nullptr;
  const SystemFolder* system = nullptr;
  const ModelFolder* model = nullptr;
  const ResultFolder* result = nullptr;

  bool open() const { return submitter != nullptr && submitter->division == "open"; }
};

enum class Subject : std::uint8_t { tree, submitter, system, model, result };

struct InferenceRule {
  Rule rule{};  // its level and its function are not used
  Subject subject = Subject::result;
  void (*check)(const At& at, Out& out) = nullptr;
};

// In the order of the report.
const std::vector<InferenceRule>& catalogue();

using Rules = std::vector<InferenceRule>;

// Adds a group's rules on a result, each of which costs the result where it is broken.
struct ResultRules {
  Rules& rules;
  std::string_view group;

  void operator()(std::string_view id, std::string_view clause, std::string_view demand,
                  std::string_view fix, void (*check)(const At&, Out&)) const {
    (*this)(id, Severity::error, clause, demand, fix, check);
  }
  void operator()(std::string_view id, Severity severity, std::string_view clause,
                  std::string_view demand, std::string_view fix,
                  void (*check)(const At&, Out&)) const {
    rules.push_back({{.id = id,
                      .group = group,
                      .severity = severity,
                      .action = Action::reject_points,
                      .clause = clause,
                      .demand = demand,
                      .fix = fix},
                     Subject::result,
                     check});
  }
};

void add_structure(Rules& rules);
void add_system(Rules& rules);
void add_measurements(Rules& rules);
void add_performance(Rules& rules);
void add_latency(Rules& rules);
void add_accuracy(Rules& rules);
void add_compliance(Rules& rules);
void add_power(Rules& rules);

// A log of a performance run that the performance rules look at: the result's own, and those of
// TEST01 and TEST04 where the division asks for them.
std::vector<const DetailLog*> performance_logs(const At& at);

// The mean power of a measured run; nothing without a measurement.
std::optional<double> run_watts(const ResultFolder& result);

// The number that a pattern of accuracy.txt finds in a line, as text; "" for none.
std::string_view metric_in(std::string_view metric, std::string_view line);

}  // namespace assay::rules::inference
