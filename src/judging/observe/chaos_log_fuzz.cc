// Any bytes as a chaos log: steps of known acts, and an impact whose figures are finite, in bounded
// time and memory.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "observe/impact.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto log = observe::parse_chaos_log(text);
  if (!log) return 0;
  for (const observe::ChaosStep& step : log->steps) CHECK(step.act < log->acts.size());
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", true});
  observe::ImpactFold fold(info);
  fold.on_phase({.phase = 0, .step = PhaseStep::started, .at = {}});
  for (std::uint32_t i = 0; i < 200; ++i) {
    Event event;
    event.query.index = i;
    event.due = event.sent = Instant{} + 10_ms * i;
    event.done = event.due + 5_ms;
    fold.on_done(event, {});
  }
  const observe::Impact impact = fold.finish(*log);
  CHECK(impact.acts.size() == log->acts.size());
  for (const observe::ActImpact& act : impact.acts) CHECK(std::isfinite(act.output_lost));
  CHECK(observe::impact_lines(impact).size() >= impact.acts.size());
  CHECK(!observe::to_json(impact).dump().empty());
  return 0;
}
