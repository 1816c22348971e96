#include "campaign/calibrate/report_truth.h"

#include <string>

#include "base/format.h"
#include "campaign/calibrate/truth_join.h"
#include "campaign/run_folder.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

Json figures_json(const audit::ErrorFigures& figures) {
  return Json()
      .set("count", figures.count)
      .set("p0_1", figures.p0_1)
      .set("p1", figures.p1)
      .set("p50", figures.p50)
      .set("p99", figures.p99)
      .set("p99_9", figures.p99_9);
}

}  // namespace

Result<Json> errors_against_truth(const std::filesystem::path& run_folder,
                                  const std::filesystem::path& truth_log) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(run_folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  ASSIGN_OR_RETURN(const endpoint::TruthRecord truth, endpoint::read_truth_log(truth_log));
  TruthJoin join(info, truth);
  TRY(record::replay_run(log_folder(run_folder), join));
  audit::CalibratedLevel level;
  join.finish(level);
  if (level.replies == level.unmatched) {
    return invalid(
        format("--truth: '{}' holds no reply of this run\n  was it written by the "
               "endpoint that answered, during this run?",
               truth_log.string()));
  }
  return Json()
      .set("replies", level.replies)
      .set("unmatched", level.unmatched)
      .set("kernel_stamped", level.kernel_stamped)
      .set("shares_read", level.shares_read)
      .set("ttft", figures_json(level.arrival.ttft))
      .set("itl", figures_json(level.arrival.itl))
      .set("latency", figures_json(level.arrival.latency))
      .set("token", figures_json(join.instants()));
}

std::string truth_text(const Json& errors) {
  std::string out = format(
      "Client minus truth, µs, over {} replies ({} do not match); {:.0f} % of the events have "
      "the\nkernel's stamp, {:.0f} % came in one read with a later one.\n\n",
      errors["replies"].as_int(), errors["unmatched"].as_int(),
      100 * errors["kernel_stamped"].as_double(), 100 * errors["shares_read"].as_double());
  out += format("{:10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "count", "P0.1", "P1", "P50",
                "P99", "P99.9");
  for (const char* name : {"ttft", "itl", "latency", "token"}) {
    const Json& row = errors[name];
    out += format("{:10}{:>10}", name, row["count"].as_int());
    for (const char* figure : {"p0_1", "p1", "p50", "p99", "p99_9"}) {
      out += format("{:>10.1f}", static_cast<double>(row[figure].as_int()) / 1000);
    }
    out += "\n";
  }
  return out;
}

}  // namespace assay::campaign
