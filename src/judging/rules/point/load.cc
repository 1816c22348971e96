#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_load_pattern(const Scope& at, Out& out) {
  if (at.point->dedicated()) return out.not_applicable();
  if (at.point->load_pattern != "concurrency" && at.point->load_pattern != "agentic_inference") {
    const std::string_view pointer = "/runtime_settings/load_pattern";
    out.error(at.point->point.place(pointer),
              format("load_pattern is {}", said(at.point->point.at(pointer))),
              "concurrency or agentic_inference");
  }
}

void check_streaming_config(const Scope& at, Out& out) {
  const std::string_view all = "/runtime_settings/stream_all_chunks";
  const Json& chunks = at.point->point.at(all);
  if (at.tree.pareto && chunks.is_bool() && !chunks.as_bool()) {
    out.warning(at.point->point.place(all), "stream_all_chunks is false", "true, in edition v0.7");
  }
  if (at.point->dedicated()) return out.not_applicable();
  const Json& streaming = at.point->config.at("/model_params/streaming");
  const bool off = (streaming.is_bool() && !streaming.as_bool()) || streaming.as_string() == "off";
  if (off) {
    out.warning(at.point->config.place("/model_params/streaming"), "streaming is off", "on");
  }
}

constexpr Rule kLoadRules[] = {
    {.id = "load-pattern",
     .needs = Needs::usable_point,
     .action = Action::reject_points,
     .clause = "§6.1: Load pattern",
     .demand = "load_pattern is concurrency, or agentic_inference; only a dedicated Offline point "
               "is free",
     .fix = "measure with a fixed number of queries in flight",
     .check = check_load_pattern},
    {.id = "streaming-config",
     .needs = Needs::usable_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§6.5: Streaming config",
     .demand = "streaming is on, but for a dedicated Offline point",
     .fix = "set model_params.streaming: \"on\" and measure again",
     .check = check_streaming_config},
};

}  // namespace

std::span<const Rule> load_rules() { return kLoadRules; }

}  // namespace assay::rules
