#include "rules/rule.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule streaming_config() {
  return {.id = "streaming-config",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§6.5: Streaming config",
          .demand = "streaming is on, but for a dedicated Offline point",
          .fix = "set model_params.streaming: \"on\" and measure again",
          .check = check_streaming_config};
}

}  // namespace assay::rules
