#include "sim/what_if.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sim {
namespace {

constexpr std::uint64_t kCardsMax = 100'000;
constexpr std::uint64_t kDraftsMax = 8;

Result<std::uint32_t> number(std::string_view key, std::string_view text, std::uint64_t most) {
  const auto value = parse_uint(text);
  if (value && *value <= most && (*value > 0 || key == "mtp")) {
    return static_cast<std::uint32_t>(*value);
  }
  return invalid(format("{}: '{}' is not a whole number from {} to {}", key, text,
                        key == "mtp" ? 0 : 1, most));
}

// Keys that are a word of the scenario.
std::string* word_of(Scenario& scenario, std::string_view key) {
  if (key == "hardware") return &scenario.hardware;
  if (key == "precision") return &scenario.precision;
  if (key == "backend") return &scenario.backend;
  if (key == "backend_version") return &scenario.backend_version;
  if (key == "software") return &scenario.software;
  if (key == "router") return &scenario.router;
  if (key == "disagg") return &scenario.disagg;
  return nullptr;
}

// Widths of the layout that are changed, and those that the change leaves.
Result<std::string> changed_layout(const std::string& parallel, const std::string& changes) {
  ASSIGN_OR_RETURN(const Parallelism now, parse_parallelism(parallel));
  ASSIGN_OR_RETURN(const Parallelism alone, parse_parallelism(changes));
  const auto named = [&](std::string_view key) {
    return (',' + changes).find(',' + std::string(key) + '=') != std::string::npos;
  };
  Parallelism out;
  out.tp = named("tp") ? alone.tp : now.tp;
  out.dp = named("dp") ? alone.dp : now.dp;
  out.pp = named("pp") ? alone.pp : now.pp;
  // Experts that were spread over all ranks stay so.
  const bool all = now.ep > 1 && now.ep == now.tp * now.dp;
  out.ep = named("ep") ? alone.ep : all ? out.tp * out.dp : now.ep;
  TRY(parse_parallelism(to_string(out)));
  return to_string(out);
}

// The figure's range from its parts, as shares of the value.
struct Share {
  double low = 0;  // 0: unknown
  double high = 0;
};

Share held_out_range(const Twin& twin, double HeldOut::*figure) {
  Share out;
  for (const HeldOut& one : twin.held_out) {
    const double ratio = one.*figure;
    if (!(ratio > 0)) continue;
    out.low = out.low > 0 ? std::min(out.low, ratio) : ratio;
    out.high = std::max(out.high, ratio);
  }
  return out;
}

Estimate estimate(double measured, double now, double then, const Share& held_out,
                  const Range& like_it, bool doubt_known) {
  Estimate out;
  if (!(measured > 0) || !(now > 0) || !(then > 0)) return out;
  out.value = measured * then / now;
  if (!doubt_known || !(held_out.low > 0)) return out;
  const auto part = [](double ratio) { return std::log(std::max(1.0, ratio)); };
  out.low = out.value * std::exp(-std::hypot(part(1 / held_out.low), part(1 / like_it.low)));
  out.high = out.value * std::exp(std::hypot(part(held_out.high), part(like_it.high)));
  return out;
}

}  // namespace

Result<Scenario> changed_scenario(const Scenario& scenario, std::string_view changes) {
  Scenario out = scenario;
  std::string layout;
  bool cards_named = false;
  for (const std::string_view part : split(changes, ',')) {
    const std::size_t equals = part.find('=');
    const std::string key = lower(trim(part.substr(0, std::min(equals, part.size()))));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : trim(part.substr(equals + 1));
    if (key.empty() || value.empty()) {
      return invalid(format("'{}' is not of the form cards=16,tp=8", part));
    }
    if (key == "cards" || key == "gpus") {
      ASSIGN_OR_RETURN(out.gpus, number(key, value, kCardsMax));
      cards_named = true;
    } else if (key == "mtp") {
      ASSIGN_OR_RETURN(out.mtp, number(key, value, kDraftsMax));
      out.acceptance.clear();
    } else if (key == "decode_batch") {
      ASSIGN_OR_RETURN(out.decode_batch, number(key, value, 1'000'000));
    } else if (key == "tp" || key == "dp" || key == "ep" || key == "pp") {
      layout += format("{}{}={}", layout.empty() ? "" : ",", key, value);
    } else if (std::string* word = word_of(out, key)) {
      *word = value;
      if (key == "backend") out.backend_version.clear();  // another engine's release
    } else {
      return invalid(
          format("unknown '{}'; one of: cards, tp, dp, ep, pp, mtp, hardware, precision, backend, "
                 "backend_version, software, router, disagg, decode_batch",
                 key));
    }
  }
  if (!layout.empty()) {
    ASSIGN_OR_RETURN(out.parallel, changed_layout(scenario.parallel, layout));
    ASSIGN_OR_RETURN(const Parallelism worker, parse_parallelism(out.parallel));
    if (!cards_named && out.gpus % worker.gpus() != 0) out.gpus = worker.gpus();
  }
  return out;
}

WhatIf ask_what_if(const ClusterSpec& then, const Workload& workload,
                   const std::vector<MeasuredPoint>& measured, const Twin& twin) {
  const std::vector<SimPoint> after =
      simulate_as_measured(with_factors(then, twin), workload, measured);
  const Share tpot = held_out_range(twin, &HeldOut::tpot);
  const Share ttft = held_out_range(twin, &HeldOut::ttft);
  const Share throughput = held_out_range(twin, &HeldOut::throughput);
  WhatIf out{.system = describe(then), .gpus = then.gpus()};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const SimPoint& a = twin.points[i];
    const SimPoint& b = after[i];
    const bool known = b.doubt.points > 0;
    out.points.push_back({.measured = measured[i],
                          .tpot_ms = estimate(measured[i].tpot_ms_mean, a.tpot_ms.mean,
                                              b.tpot_ms.mean, tpot, b.doubt.tpot, known),
                          .ttft_ms = estimate(measured[i].ttft_ms_mean, a.ttft_ms.mean,
                                              b.ttft_ms.mean, ttft, b.doubt.ttft, known),
                          .system_tps = estimate(measured[i].system_tps, a.system_tps, b.system_tps,
                                                 throughput, b.doubt.throughput, known),
                          .trust = b.trust,
                          .unsteady = b.unsteady});
  }
  return out;
}

}  // namespace assay::sim
