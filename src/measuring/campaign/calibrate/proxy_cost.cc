#include "campaign/calibrate/proxy_cost.h"

#include <algorithm>

#include "base/check.h"
#include "base/display.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "campaign/calibrate/step.h"

namespace assay::campaign {
namespace {

using Errors = audit::ErrorFigures audit::ClockErrors::*;

AddedTime added(const std::vector<ProxyRound>& rounds, Errors which) {
  const auto middle = [&](std::int64_t audit::ErrorFigures::*percentile) {
    std::vector<std::int64_t> all;
    for (const ProxyRound& one : rounds) {
      all.push_back((one.through.arrival.*which).*percentile -
                    (one.direct.arrival.*which).*percentile);
    }
    std::ranges::sort(all);
    return all[(all.size() - 1) / 2];
  };
  return {.p50 = middle(&audit::ErrorFigures::p50), .p99 = middle(&audit::ErrorFigures::p99)};
}

std::string microseconds(std::int64_t ns) {
  return format("{:+.1f} µs", static_cast<double>(ns) * 1e-3);
}

Json json_of(const AddedTime& time) { return Json().set("p50", time.p50).set("p99", time.p99); }

Json json_of(const audit::CalibratedLevel& level) {
  const auto figures = [](const audit::ErrorFigures& f) {
    return Json().set("count", f.count).set("p50", f.p50).set("p99", f.p99);
  };
  return Json()
      .set("events_per_second", level.events_per_second)
      .set("replies", level.replies)
      .set("unmatched", level.unmatched)
      .set("first_token_ns", figures(level.arrival.ttft))
      .set("last_event_ns", figures(level.arrival.latency));
}

}  // namespace

Result<ProxyCost> proxy_cost(const CalibrationOptions& options, const ProxyCostOptions& asked,
                             run::Control& control) {
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::make("proxy-cost"));
  ProxyCost out{.asked = asked, .streams = options.streams};
  for (std::uint32_t i = 0; i < std::max(1U, asked.rounds); ++i) {
    Step step = step_at(options, 0, asked.events_per_second);
    step.name = format("direct-{}", i + 1);
    ASSIGN_OR_RETURN(Stepped direct, take_step(options, step, scratch.path(), control));
    step.name = format("proxy-{}", i + 1);
    step.proxy = asked.flags;
    ASSIGN_OR_RETURN(Stepped through, take_step(options, step, scratch.path(), control));
    for (const Stepped* const one : {&direct, &through}) {
      if (one->level.arrival.ttft.count > 0) continue;
      return Error{Code::io, "calibrate --proxy: no arrival has a kernel stamp on this system"};
    }
    out.rounds.push_back({std::move(direct.level), std::move(through.level)});
  }
  add_up(out);
  return out;
}

void add_up(ProxyCost& cost) {
  CHECK(!cost.rounds.empty());
  cost.first_token = added(cost.rounds, &audit::ClockErrors::ttft);
  cost.last_event = added(cost.rounds, &audit::ClockErrors::latency);
}

std::string proxy_cost_text(const ProxyCost& cost) {
  std::string flags;
  for (const std::string& flag : cost.asked.flags) flags += " " + flag;
  std::string out =
      format("assay proxy{} at {} events/s in {} streams, {} with and without it in turns\n", flags,
             three_digits(cost.asked.events_per_second), with_thousands(std::int64_t{cost.streams}),
             counted(cost.rounds.size(), "round"));
  const auto line = [&](std::string_view what, const AddedTime& time) {
    out += format("  {}P50 {}   P99 {}\n", pad_right(what, 30), microseconds(time.p50),
                  microseconds(time.p99));
  };
  line("it adds to a first token", cost.first_token);
  line("and to a reply's last event", cost.last_event);
  for (const ProxyRound& round : cost.rounds) {
    for (const auto* const level : {&round.direct, &round.through}) {
      if (level->unmatched == 0) continue;
      out += format("  {} of {} replies do not match the endpoint's own log\n", level->unmatched,
                    level->replies);
    }
  }
  return out;
}

Json proxy_cost_json(const ProxyCost& cost) {
  Json rounds = Json::array();
  for (const ProxyRound& round : cost.rounds) {
    rounds.push_back(
        Json().set("direct", json_of(round.direct)).set("through", json_of(round.through)));
  }
  return Json()
      .set("proxy_cost", 1)
      .set("proxy_flags", json_list(cost.asked.flags))
      .set("events_per_second", cost.asked.events_per_second)
      .set("streams", cost.streams)
      .set("first_token_added_ns", json_of(cost.first_token))
      .set("last_event_added_ns", json_of(cost.last_event))
      .set("rounds", std::move(rounds));
}

}  // namespace assay::campaign
