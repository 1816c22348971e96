#include "base/text.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

double least_duration_s(const Scope& at) {
  if (at.point->concurrency <= rulebook::kUltraLowMax) return at.tree.edition.ulc_duration_s;
  return at.curve->agentic ? at.tree.edition.agentic_duration_s : at.tree.edition.duration_s;
}

void check_point_duration(const Scope& at, Out& out) {
  const double least = least_duration_s(at);
  const std::string_view pointer = "/steady_state/window/duration_s";
  const Json& window = at.point->point.at(pointer);
  const double run = at.point->metrics.duration_ns.value_or(0) / 1e9;
  if (run <= 0 && !window.is_number()) return out.not_applicable();
  const double span = window.is_number() ? window.as_double() : run;
  if (span < least) {
    out.warning(window.is_number() ? at.point->point.place(pointer)
                                   : at.point->summary.place("/duration_ns"),
                format("{} of {:.1f} s", window.is_number() ? "a window" : "a run", span),
                format("{} s or more", least));
  }
}

void check_min_query_count(const Scope& at, Out& out) {
  const std::string_view dataset = at.point->point.at("/dataset").as_string();
  const std::int64_t table = at.tree.edition.samples_of(dataset);
  if (table == 0 || !at.point->metrics.completed) return out.not_applicable();
  if (*at.point->metrics.completed >= table) return;
  // §6.4 lets the working group approve a subset for Ultra Low; the official checker knows none.
  const bool subset =
      at.point->point.at("/n_samples_from_dataset").is_number() && at.curve->ultra_low(*at.point);
  out.error(at.point->summary.place("/n_samples_completed"),
            format("{} samples completed", *at.point->metrics.completed),
            format("{} or more: one pass over {}{}", table, dataset,
                   subset ? "; an approved subset is not known to the official checker" : ""));
}

void check_whole_passes(const Scope& at, Out& out) {
  const std::string_view dataset = at.point->point.at("/dataset").as_string();
  std::int64_t pass = at.tree.edition.samples_of(dataset);
  const Json& subset = at.point->point.at("/n_samples_from_dataset");
  if (subset.is_number() && at.curve->ultra_low(*at.point)) pass = subset.as_int();
  const std::int64_t issued = at.point->metrics.issued.value_or(0);
  if (pass <= 0 || issued < pass) return out.not_applicable();
  if (issued % pass != 0) {
    out.warning(at.point->summary.place("/n_samples_issued"),
                format("{} samples issued: {:.2f} passes", issued,
                       static_cast<double>(issued) / static_cast<double>(pass)),
                format("a multiple of {}", pass));
  }
}

void check_run_complete(const Scope& at, Out& out) {
  const Json& complete = at.point->summary.at("/complete");
  const std::string state = lower(at.point->summary.at("/state").as_string());
  if (complete.is_bool() && !complete.as_bool()) {
    out.error(at.point->summary.place("/complete"), "complete is false", "a run that drained");
  } else if (state == "interrupted") {
    out.error(at.point->summary.place("/state"), "the run was interrupted", "a run that drained");
  }
}

constexpr Rule kRunLengthRules[] = {
    {.id = "point-duration",
     .needs = Needs::measured_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§6.2: Run duration",
     .demand = "the steady-state window, or the run, is as long as its region asks",
     .fix = "size the run to whole passes and to the duration; `assay curve` does",
     .check = check_point_duration},
    {.id = "min-query-count",
     .needs = Needs::measured_point,
     .action = Action::flag,
     .clause = "§6.4: Minimum query count",
     .demand = "as many samples completed as the dataset has",
     .fix = "issue whole passes over the dataset",
     .check = check_min_query_count},
    {.id = "whole-passes",
     .needs = Needs::measured_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§6.4: Minimum query count",
     .demand = "the samples issued are whole passes over the dataset",
     .fix = "stop by passes, not by time: n_samples_to_issue = k times the dataset's size",
     .check = check_whole_passes},
    {.id = "run-complete",
     .needs = Needs::measured_point,
     .action = Action::reject_points,
     .clause = "§8.3: Submission completeness",
     .demand = "the run ended by itself",
     .fix = "measure the point again: an interrupted run cannot be used",
     .check = check_run_complete},
};

}  // namespace

std::span<const Rule> run_length_rules() { return kRunLengthRules; }

}  // namespace assay::rules
