// The compliance tests: that they were run, and what they found. The open division has none.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

template <typename Look>
void for_each_test(const At& at, Out& out, const Look& look) {
  if (at.open() || at.result->of_endpoints || at.result->tests.empty()) {
    return out.not_applicable();
  }
  for (const ComplianceTest& test : at.result->tests) look(test);
}

bool has_runs(const ComplianceTest& test) { return test.name == "TEST01" || test.name == "TEST04"; }

void check_compliance_there(const At& at, Out& out) {
  for_each_test(at, out, [&](const ComplianceTest& test) {
    if (!test.folder.present) {
      return out.error({test.folder.path, 0}, "no such folder", test.name + " of this model");
    }
    const auto want = [&](const TextFile& file) {
      if (!file.present()) out.error({file.name, 0}, "no such file", "the test's output");
    };
    if (test.name != "TEST04" && test.name != "TEST09") want(test.verify_accuracy);
    if (test.name == "TEST09") want(test.verify_length);
    if (!has_runs(test)) return;
    want(test.verify_performance);
    if (test.log.absent()) out.error({test.log.name(), 0}, "no such file", "the test's detail log");
  });
}

void check_compliance_runs(const At& at, Out& out) {
  bool any = false;
  for_each_test(at, out, [&](const ComplianceTest& test) {
    if (!has_runs(test) || !test.folder.present) return;
    any = true;
    if (test.verify_performance.present() && !test.verify_performance.contains("TEST PASS")) {
      out.error({test.verify_performance.name, 0}, "no TEST PASS", "TEST PASS");
    }
    if (!test.log.absent() && !test.log.good()) {
      out.error(test.log.place(), test.log.trouble(), "lines of :::MLLOG and JSON");
    }
    if (!test.run.present) return;
    constexpr std::array<std::string_view, 2> kWanted{"mlperf_log_summary.txt",
                                                      "mlperf_log_detail.txt"};
    constexpr std::array<std::string_view, 4> kAllowed{
        "mlperf_log_accuracy.json", "mlperf_log_trace.json", "results.json", ".gitkeep"};
    for (const std::string_view name : kWanted) {
      if (test.run.has(name)) continue;
      out.error({test.run.path, 0}, "no file " + std::string(name), "the test's logs");
    }
    for (const std::string& name : test.run.files) {
      if (std::ranges::find(kWanted, name) != kWanted.end() ||
          std::ranges::find(kAllowed, name) != kAllowed.end()) {
        continue;
      }
      out.error({test.run.path + "/" + name, 0}, "a file that does not belong here",
                "the logs of LoadGen alone");
    }
  });
  if (!any) out.not_applicable();
}

// The last value of a metric in a text; 0 for none.
double last_metric(std::string_view metric, const TextFile& file) {
  double out = 0;
  for (const std::string_view line : split(*file.text, '\n')) {
    const std::string_view text = metric_in(metric, line);
    if (!text.empty()) out = parse_double(text).value_or(0);
  }
  return out;
}

// Answers that differ from run to run: the scores must be near.
void check_compliance_scores(const At& at, const ComplianceTest& test, Out& out) {
  if (!test.accuracy.present) {
    return out.error({test.accuracy.path, 0}, "no TEST PASS, and no such folder",
                     "the two accuracies of an indeterministic system");
  }
  for (const std::string name : {"mlperf_log_accuracy.json", "accuracy.txt",
                                 "baseline_accuracy.txt", "compliance_accuracy.txt"}) {
    if (test.accuracy.has(name)) continue;
    return out.error({test.accuracy.path + "/" + name, 0}, "no such file", "the file");
  }
  if (!test.baseline.present() || !test.compliance.present()) return;
  for (const auto& [metric, target] : at.result->official->at_least(at.result->scenario_name())) {
    const double baseline = last_metric(metric, test.baseline);
    const double compliance = last_metric(metric, test.compliance);
    if (baseline == 0 || compliance == 0) {
      out.error({test.accuracy.path, 0}, "no " + metric, "the metric in both files");
      continue;
    }
    const double moved = std::abs(1 - baseline / compliance) * 100;
    const double limit = at.result->official->accuracy_delta_percent(metric);
    if (moved <= limit) continue;
    out.error({test.compliance.name, 0}, format("{} moved by {:.3g} %", metric, moved),
              format("at most {:.3g} %", limit));
  }
}

void check_compliance_answers(const At& at, Out& out) {
  for_each_test(at, out, [&](const ComplianceTest& test) {
    const auto must_pass = [&](const TextFile& file, bool passes) {
      if (file.present() && !passes) out.error({file.name, 0}, "no TEST PASS", "TEST PASS");
    };
    if (test.name == "TEST01") {
      if (test.verify_accuracy.present() && !test.verify_accuracy.has_line("TEST PASS")) {
        check_compliance_scores(at, test, out);
      }
    } else if (test.name == "TEST06") {
      if (!test.verify_accuracy.present()) return;
      if (!test.verify_accuracy.has_line("First token check pass: True") &&
          !test.verify_accuracy.has_line("First token check pass: Skipped")) {
        out.error({test.verify_accuracy.name, 0}, "the first tokens did not pass",
                  "First token check pass: True (Offline: Skipped)");
      }
      for (const std::string_view line :
           {"EOS check pass: True", "Sample length check pass: True"}) {
        if (test.verify_accuracy.has_line(line)) continue;
        out.error({test.verify_accuracy.name, 0}, "no line \"" + std::string(line) + "\"",
                  std::string(line));
      }
    } else if (test.name == "TEST07") {
      must_pass(test.verify_accuracy, test.verify_accuracy.contains("TEST PASS"));
    } else if (test.name == "TEST08") {
      must_pass(test.verify_accuracy, test.verify_accuracy.has_line("TEST PASS"));
    } else if (test.name == "TEST09") {
      must_pass(test.verify_length, test.verify_length.contains("TEST PASS"));
    }
  });
}

}  // namespace

void add_compliance(Rules& rules) {
  const ResultRules add{rules, "compliance"};
  add("inf-test-present", "checker: ComplianceCheck.dir_exists_check",
      "each compliance test of the model is there with its files",
      "run the test: assay loadgen compliance", check_compliance_there);
  add("inf-test-runs", "checker: ComplianceCheck.compliance_performance_check",
      "TEST01 and TEST04 passed, and performance/run_1 has their logs alone",
      "run the test again; take other files out", check_compliance_runs);
  add("inf-test-answers", "checker: ComplianceCheck.accuracy_check", "the test's answers passed",
      "run the test again", check_compliance_answers);
}

}  // namespace assay::rules::inference
