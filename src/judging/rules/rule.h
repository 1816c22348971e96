// Rule: one requirement of the rules: what it requires, its source, how to fix a violation, and the
// function that checks. The catalogue (catalogue.h) lists them.
//
// A rule runs at its level: once for a tree, or for each system, curve or point. It sees everything
// around its subject, reports findings through Out, and reports nothing if all is well. Rules do
// not know each other; facts that two of them need are derived in submission.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "rules/finding.h"
#include "rules/submission.h"

namespace assay::rules {

enum class Level : std::uint8_t { tree, system, curve, point };

// Points on which a rule at point level runs.
enum class Needs : std::uint8_t {
  any_point,
  usable_point,    // point.yaml is readable and fits its schema
  measured_point,  // result_summary.json too
};

// Pointers of this level and above are set; those below are null.
struct Scope {
  const Submission& tree;
  const System* system = nullptr;
  const Curve* curve = nullptr;
  const PointFolder* point = nullptr;
};

class Out;

struct Rule {
  std::string_view id{};
  std::string_view group{};  // the catalogue sets it
  Level level = Level::point;
  Needs needs = Needs::any_point;
  // The highest severity that it reports.
  Severity severity = Severity::error;
  Action action = Action::none;
  std::string_view clause{};
  std::string_view demand{};  // what must be true
  std::string_view fix{};
  void (*check)(const Scope& at, Out& out) = nullptr;
};

class Out {
 public:
  explicit Out(const Rule& rule, std::vector<Finding>& findings)
      : rule_(rule), findings_(findings) {}

  // `fix` replaces the rule's own advice for this case.
  void error(Place where, std::string found, std::string expected, std::string fix = {}) {
    say(Severity::error, std::move(where), std::move(found), std::move(expected), std::move(fix));
  }
  void warning(Place where, std::string found, std::string expected, std::string fix = {}) {
    say(Severity::warning, std::move(where), std::move(found), std::move(expected), std::move(fix));
  }
  void info(Place where, std::string found, std::string expected = {}, std::string fix = {}) {
    say(Severity::info, std::move(where), std::move(found), std::move(expected), std::move(fix));
  }
  // Reports an error for each issue of a document.
  void issues(const Document& document, const std::vector<Issue>& issues) {
    for (const Issue& issue : issues) {
      error(document.place(issue.pointer), issue.found, issue.expected);
    }
  }
  // The requirement does not apply here (an agentic curve has no Offline point).
  void not_applicable() { applicable_ = false; }

  bool applicable() const { return applicable_; }

 private:
  void say(Severity severity, Place where, std::string found, std::string expected,
           std::string fix);

  const Rule& rule_;
  std::vector<Finding>& findings_;
  bool applicable_ = true;
};

}  // namespace assay::rules
