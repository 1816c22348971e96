// Rule: one demand of the rules, as a small file of its own: what it demands, where it is written,
// how to mend what breaks it, and the function that looks. The catalogue (catalogue.h) lists them.
//
// A rule is asked at its level: once a tree, or for each system, curve or point. It sees everything
// around the thing it is asked about, says what it finds through Out, and keeps quiet when all is
// well. Rules know nothing of each other; what two of them need is derived in submission.h.
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

// Whom a rule at point level is asked about.
enum class Needs : std::uint8_t {
  any_point,
  usable_point,    // point.yaml is readable and fits its schema
  measured_point,  // result_summary.json too
};

// Pointers above the level are set; those below are null.
struct Scope {
  const Submission& tree;
  const System* system = nullptr;
  const Curve* curve = nullptr;
  const PointFolder* point = nullptr;
};

class Out;

struct Rule {
  std::string_view id{};
  std::string_view group{};
  Level level = Level::point;
  Needs needs = Needs::any_point;
  // The worst it says.
  Severity severity = Severity::error;
  Action action = Action::none;
  std::string_view clause{};
  std::string_view demand{};  // what must hold
  std::string_view fix{};
  void (*check)(const Scope& at, Out& out) = nullptr;
};

class Out {
 public:
  explicit Out(const Rule& rule, std::vector<Finding>& findings)
      : rule_(rule), findings_(findings) {}

  // `fix`: when the rule's own is not the best advice for this case.
  void error(Place where, std::string found, std::string expected, std::string fix = {}) {
    say(Severity::error, std::move(where), std::move(found), std::move(expected), std::move(fix));
  }
  void warning(Place where, std::string found, std::string expected, std::string fix = {}) {
    say(Severity::warning, std::move(where), std::move(found), std::move(expected), std::move(fix));
  }
  void info(Place where, std::string found, std::string expected = {}, std::string fix = {}) {
    say(Severity::info, std::move(where), std::move(found), std::move(expected), std::move(fix));
  }
  // An error for each issue of a document.
  void issues(const Document& document, const std::vector<Issue>& issues) {
    for (const Issue& issue : issues) {
      error(document.place(issue.pointer), issue.found, issue.expected);
    }
  }
  // The demand does not apply here (an agentic curve has no Offline point).
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
