#include "report/live_lines.h"

#include <utility>

namespace assay::report {
namespace {

Json percentiles(const metrics::LivePercentiles& figure) {
  if (figure.count == 0) return {};
  return Json()
      .set("count", figure.count)
      .set("p50", figure.p50.ms())
      .set("p90", figure.p90.ms())
      .set("p99", figure.p99.ms());
}

}  // namespace

Json live_json(const metrics::LiveSnapshot& s) {
  Json failures = Json::object();
  for (const metrics::LiveFailures& one : s.failures) {
    failures.set(to_string(one.outcome), one.count);
  }
  Json out = Json::object();
  out.set("phase", s.phase);
  out.set("kind", to_string(s.kind));
  out.set("step", s.step == PhaseStep::started       ? "started"
                  : s.step == PhaseStep::issue_ended ? "issue_ended"
                                                     : "drained");
  out.set("elapsed_s", s.elapsed.seconds());
  out.set("queries_planned", s.queries_planned ? Json(*s.queries_planned) : Json());
  out.set("duration_max_s", s.duration_max ? Json(s.duration_max->seconds()) : Json());
  out.set("sent", s.sent).set("completed", s.completed).set("failed", s.failed);
  out.set("in_flight", s.in_flight).set("failures", std::move(failures));
  out.set("offered_qps", s.offered_qps).set("achieved_qps", s.achieved_qps);
  out.set("completed_qps", s.completed_qps).set("output_tps", s.output_tps);
  out.set("tokens_known", s.tokens_known);
  out.set("ttft_ms", percentiles(s.ttft)).set("tpot_ms", percentiles(s.tpot));
  out.set("lateness_ms", percentiles(s.lateness));
  return out.set("steady", s.steady).set("trouble", s.trouble);
}

LiveLines::LiveLines(std::function<metrics::LiveSnapshot()> snapshot,
                     std::function<void(std::string_view)> write, Duration every)
    : snapshot_(std::move(snapshot)),
      write_(std::move(write)),
      every_(every),
      thread_([this] { loop(); }) {}

LiveLines::~LiveLines() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void LiveLines::loop() {
  Lock lock(mutex_);
  for (bool last = false; !last;) {
    last = stopping_;
    write_(live_json(snapshot_()).dump() + "\n");
    if (!last) wake_.wait_for(lock, every_);
  }
}

}  // namespace assay::report
