#include "pipeline/state_file.h"

#include <cmath>

#include "base/files.h"
#include "pipeline/runner.h"

namespace assay::pipeline {
namespace {

constexpr std::size_t kNamedMax = 1000;

std::string waits_for(const Engine& engine, std::size_t at) {
  const Step& step = engine.step_of(at);
  if (engine.instance(at).choosing) {
    std::string names;
    for (const Branch& one : step.next.branches)
      names += (names.empty() ? "" : ", ") + one.condition;
    return "condition: " + names;
  }
  return step.type == StepType::manual_approval ? "approval" : "file: " + step.file.path;
}

Json row_of(const Engine& engine, std::size_t at) {
  return Json().set("step", engine.step_of(at).id).set("partition", engine.partition_of(at));
}

}  // namespace

Json progress_json(const Pipeline& pipeline, const std::vector<Counts>& counts, bool running) {
  constexpr double kThousandths = 100'000.0;
  Json steps = Json::array();
  Json percents = Json::object();
  Counts all;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Counts& one = counts[i];
    steps.push_back(Json()
                        .set("id", pipeline.steps[i].id)
                        .set("total", one.total)
                        .set("done", one.done)
                        .set("running", one.running)
                        .set("waiting", one.waiting)
                        .set("failed", one.failed)
                        .set("skipped", one.skipped));
    const double share = one.total == 0 ? 1.0
                                        : static_cast<double>(one.done + one.skipped) /
                                              static_cast<double>(one.total);
    percents.set(pipeline.steps[i].id, std::round(share * kThousandths) / 1000.0);
    all.total += one.total;
    all.done += one.done + one.skipped;
    all.failed += one.failed;
  }
  const std::string_view status = all.done == all.total ? "done"
                                  : running             ? "running"
                                  : all.failed > 0      ? "failure"
                                                        : "stopped";
  return Json()
      .set("execution_status", status)
      .set("progress", std::move(percents))
      .set("steps", std::move(steps));
}

Result<void> write_state(const std::filesystem::path& work, const Pipeline& pipeline,
                         const Engine& engine, bool running,
                         const std::function<void(const Json&)>& report) {
  const Json progress = progress_json(pipeline, engine.counts(), running);
  TRY(write_file_atomic(work / "progress.json", progress.dump(2) + "\n"));
  Json waiting = Json::array();
  for (const std::size_t at : engine.waiting()) {
    if (waiting.size() == kNamedMax) break;
    waiting.push_back(
        row_of(engine, at).set("for", waits_for(engine, at)).set("key", engine.instance(at).key));
  }
  Json failed = Json::array();
  for (std::size_t at = 0; at < engine.size() && failed.size() < kNamedMax; ++at) {
    if (engine.instance(at).status != Status::failed) continue;
    failed.push_back(
        row_of(engine, at).set("why", engine.instance(at).why).set("key", engine.instance(at).key));
  }
  const Json state = Json()
                         .set("pipeline", pipeline.name)
                         .set("execution_status", progress["execution_status"])
                         .set("steps", progress["steps"])
                         .set("waiting", std::move(waiting))
                         .set("failed", std::move(failed));
  TRY(write_file_atomic(work / "state.json", state.dump(2) + "\n"));
  if (report) report(progress);
  return {};
}

}  // namespace assay::pipeline
