#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "observe/impact.h"

namespace assay::observe {
namespace {

constexpr std::array<std::string_view, 6> kRecoveries{
    "not_done", "no_baseline", "no_effect", "recovered", "not_before_next_act", "not_in_run"};

Json baseline_json(const ActImpact& act, Instant start) {
  if (!act.baseline) return {};
  const Baseline& base = *act.baseline;
  const Json latency = base.latency > Duration{} ? Json(base.latency.ns) : Json();
  return Json()
      .set("of", act.borrowed ? "the act before" : "this act")
      .set("from_ns", (base.from - start).ns)
      .set("to_ns", (base.to - start).ns)
      .set("bin_ns", base.bin.ns)
      .set("output_events_per_s", base.output_per_s)
      .set("output_margin", std::max(kImpactMargin, base.output_spread))
      .set("latency_ns", latency)
      .set("latency_margin", std::max(kImpactMargin, base.latency_spread))
      .set("queries", base.queries)
      .set("failed_share", base.failed_share);
}

std::string share_words(double share) { return format("{} %", three_digits(100 * share)); }

std::string recovery_words(const ActImpact& act) {
  const Baseline& base = *act.baseline;
  const double margin = std::max(
      {kImpactMargin, base.output_spread, base.latency > Duration{} ? base.latency_spread : 0.0});
  switch (act.recovery) {
    case Recovery::recovered:
      return format("back within {} after {}", share_words(margin),
                    human_duration(act.recovered_after));
    case Recovery::no_effect:
      return "no effect seen";
    case Recovery::not_before_next:
      return "not recovered when the next act began";
    case Recovery::not_in_run:
      return "did not recover in the run";
    case Recovery::not_done:
    case Recovery::no_baseline:
      break;
  }
  return {};
}

std::string impact_words(const ActImpact& act) {
  const Baseline& base = *act.baseline;
  std::string out = format("{} failed and {} slowed of {} queries; lowest output {} of {} events/s",
                           count_text(act.failed), count_text(act.slowed), count_text(act.queries),
                           share_words(act.output_lowest), three_digits(base.output_per_s));
  if (base.latency > Duration{} && act.latency_highest > base.latency) {
    out += format("; latency rose from {} to {}", human_duration(base.latency),
                  human_duration(act.latency_highest));
  }
  return format("{}; {}{}", out, recovery_words(act),
                act.borrowed ? " (by the baseline of the act before)" : "");
}

std::string act_words(const ActImpact& act, Instant start) {
  if (act.recovery == Recovery::not_done) {
    return format("{}: not done: {}", act.facts.what,
                  act.error.empty() ? "the run was cut off before" : act.error);
  }
  std::string out = format("{} at {}", act.facts.what, human_duration(act.began - start));
  if (act.ended.known()) {
    out += format(", over after {}", human_duration(act.ended - act.began));
  } else {
    out += ", its end is not recorded";
  }
  if (!act.error.empty()) out += format("; FAILED: {}", act.error);
  if (act.recovery == Recovery::no_baseline) {
    return out + "; no baseline: too little was recorded before it, or too few replies";
  }
  return format("{}; {}", out, impact_words(act));
}

}  // namespace

Json to_json(const Impact& impact) {
  Json acts = Json::array();
  for (const ActImpact& act : impact.acts) {
    const bool judged = act.baseline.has_value();
    const auto since_start = [&](Instant at) {
      return at.known() ? Json((at - impact.start).ns) : Json();
    };
    const auto text = [](const std::string& said) { return said.empty() ? Json() : Json(said); };
    const auto figure = [&](Json value) { return judged ? std::move(value) : Json(); };
    Json one;
    one.set("name", act.facts.name)
        .set("what", act.facts.what)
        .set("asked_ns", act.facts.at.ns)
        .set("began_ns", since_start(act.began))
        .set("ended_ns", since_start(act.ended))
        .set("exit", act.exit_code ? Json(*act.exit_code) : Json())
        .set("status", act.status ? Json(*act.status) : Json())
        .set("output", text(act.output))
        .set("error", text(act.error))
        .set("baseline", baseline_json(act, impact.start))
        .set("queries", figure(act.queries))
        .set("failed", figure(act.failed))
        .set("slowed", figure(act.slowed))
        .set("output_lowest_share", figure(act.output_lowest))
        .set("output_events_lost", figure(act.output_lost))
        .set("latency_highest_ns", figure(act.latency_highest.ns))
        .set("recovery", kRecoveries[static_cast<std::size_t>(act.recovery)])
        .set("recovered_after_ns",
             act.recovery == Recovery::recovered ? Json(act.recovered_after.ns) : Json());
    acts.push_back(std::move(one));
  }
  return Json()
      .set("acts", std::move(acts))
      .set("trouble", impact.trouble.empty() ? Json() : Json(impact.trouble));
}

std::vector<std::pair<std::string, std::string>> impact_lines(const Impact& impact) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const ActImpact& act : impact.acts) {
    out.emplace_back("act " + act.facts.name, act_words(act, impact.start));
  }
  if (!impact.trouble.empty()) out.emplace_back("acts", "the record is damaged: " + impact.trouble);
  return out;
}

}  // namespace assay::observe
