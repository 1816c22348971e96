#include "campaign/derating.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/mix.h"
#include "plan/c_max_search.h"
#include "plan/level_search.h"
#include "score/uncertainty.h"

namespace assay::campaign {
namespace {

constexpr std::int64_t kDeratingLevelMost = 4096;
constexpr int kIdealRuns = 3;  // of the best level
// A step's rates are searched in thousandths of the rate of the step before, from half of it up.
constexpr double kRateGrain = 1000;
constexpr std::int64_t kFirstRateLevel = 500;
constexpr std::int64_t kRateLevelMost = 4000;
constexpr std::int64_t kRateLevelLeast = 62;  // below it nothing is left
constexpr double kRateTolerance = 0.05;

bool is_closed(DeratingStep step) { return step <= DeratingStep::limits; }

Result<std::vector<dataset::SyntheticClass>> parsed_classes(
    const std::vector<std::string>& classes) {
  std::vector<dataset::SyntheticClass> out;
  for (const std::string& text : classes) {
    ASSIGN_OR_RETURN(out.emplace_back(), dataset::parse_class(text));
  }
  return out;
}

// The class without these options.
std::string without(std::string_view text, std::initializer_list<std::string_view> keys) {
  std::string out;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view key = trim(part.substr(0, part.find('=')));
    if (part.find('=') != std::string_view::npos && std::ranges::find(keys, key) != keys.end()) {
      continue;
    }
    out += (out.empty() ? "" : ",") + std::string(part);
  }
  return out;
}

struct Lengths {
  std::int64_t prompt = 0;
  std::int64_t output = 0;  // 0: the run's own
};

Lengths mean_lengths(const plan::SyntheticConfig& data,
                     const std::vector<dataset::SyntheticClass>& known) {
  double shares = 0;
  double prompt = 0;
  double output = 0;
  bool all = true;
  for (const dataset::SyntheticClass& one : known) {
    const auto osl = one.osl ? one.osl : data.osl;
    shares += one.share;
    prompt += one.share *
              dataset::mean(one.isl.value_or(data.isl.value_or(dataset::SyntheticSpec{}.isl)));
    if (osl) output += one.share * dataset::mean(*osl);
    all = all && osl.has_value();
  }
  return {.prompt = std::max<std::int64_t>(1, std::llround(prompt / shares)),
          .output = all ? std::max<std::int64_t>(1, std::llround(output / shares)) : 0};
}

Json ratio_json(double value, double low, double high) {
  const auto known = [](double one) { return std::isfinite(one) ? Json(one) : Json(); };
  return Json().set("ratio", known(value)).set("low", known(low)).set("high", known(high));
}

Json cost_json(const DeratingResult& of, const DeratingResult& against) {
  return ratio_json(of.tps / against.tps, of.low / against.high, of.high / against.low);
}

// The runs of one ladder.
class Ladder {
 public:
  Ladder(const plan::SyntheticConfig& data, double target, const MeasureClasses& measure,
         const std::function<void(const std::string&)>& say)
      : data_(data), target_(target), measure_(measure), say_(say) {}

  // Levels double as long as that pays, and the best is measured again. Then the limits' edge is
  // searched between the levels that are known.
  Result<void> closed_steps() {
    plan::LevelSearch edge(1, kDeratingLevelMost, plan::kSearchTolerance);
    double best = 0;
    std::int64_t best_level = 1;
    for (std::int64_t level = 1; level <= kDeratingLevelMost; level *= 2) {
      ASSIGN_OR_RETURN(const DeratingProbe one,
                       probe(DeratingStep::ideal, static_cast<double>(level), level));
      if (one.tps == 0) {
        return invalid(format("derating: the run {} has no output tokens to count", one.folder));
      }
      edge.tell(level, one.kept);
      const bool pays = one.tps >= plan::kWorthwhileGain * best;
      if (one.tps > best) best_level = level;
      best = std::max(best, one.tps);
      if (!pays) break;
    }
    std::vector<DeratingProbe> at_best;
    for (const DeratingProbe& one : probes_) {
      if (one.load == static_cast<double>(best_level)) at_best.push_back(one);
    }
    while (at_best.size() < kIdealRuns) {
      ASSIGN_OR_RETURN(at_best.emplace_back(),
                       probe(DeratingStep::ideal, static_cast<double>(best_level), best_level));
    }
    results.push_back(derating_result(DeratingStep::ideal, at_best));
    while (edge.bad() > 0) {
      const auto level = edge.next();
      if (!level) break;
      ASSIGN_OR_RETURN(const DeratingProbe one,
                       probe(DeratingStep::limits, static_cast<double>(*level), *level));
      edge.tell(*level, one.kept);
    }
    results.push_back(derating_result(DeratingStep::limits, probes_));
    rate_ = 0;
    for (const DeratingProbe& one : probes_) {
      if (one.load == results.back().load) rate_ = std::max(rate_, one.qps);
    }
    return {};
  }

  Result<void> open_step(DeratingStep step) {
    const std::size_t first = probes_.size();
    plan::LevelSearch search(kFirstRateLevel, kRateLevelMost, kRateTolerance);
    const double rate = rate_;
    for (auto level = search.next(); level && rate > 0; level = search.next()) {
      if (search.good() == 0 && *level < kRateLevelLeast) break;
      const double load = rate * static_cast<double>(*level) / kRateGrain;
      ASSIGN_OR_RETURN(const DeratingProbe one, probe(step, load, *level));
      search.tell(*level, one.kept);
    }
    if (probes_.size() == first) {  // the step before has nothing left
      results.push_back({.step = step});
      return {};
    }
    results.push_back(derating_result(
        step, {probes_.begin() + static_cast<std::ptrdiff_t>(first), probes_.end()}));
    rate_ = results.back().load;
    return {};
  }

  Json json() const { return derating_json(results, probes_, target_); }

  std::vector<DeratingResult> results{};

 private:
  Result<DeratingProbe> probe(DeratingStep step, double load, std::int64_t level) {
    ASSIGN_OR_RETURN(const auto classes, derating_classes(data_, step, load));
    const std::string folder = format("{}-{}-{:02}", to_string(step), level, probes_.size() + 1);
    ASSIGN_OR_RETURN(const metrics::ClassReport report, measure_(classes, step, load, folder));
    DeratingProbe out = derating_probe(step, load, report, target_);
    out.folder = folder;
    const std::string asked =
        is_closed(step) ? format("{} in flight", load) : format("{} queries/s", three_digits(load));
    say_(format("{}: {}: {} tok/s, {}", to_string(step), asked, three_digits(out.tps),
                out.kept ? "limits kept" : "limits missed"));
    probes_.push_back(out);
    return out;
  }

  const plan::SyntheticConfig& data_;
  const double target_;
  const MeasureClasses& measure_;
  const std::function<void(const std::string&)>& say_;
  std::vector<DeratingProbe> probes_{};
  double rate_ = 0;  // of the step before, in queries a second
};

}  // namespace

std::string_view to_string(DeratingStep step) { return enum_name(step); }

DeratingProbe derating_probe(DeratingStep step, double load, const metrics::ClassReport& report,
                             double target) {
  DeratingProbe out{.step = step};
  out.load = load;
  out.kept = out.surely_kept = true;
  std::int64_t tokens = 0;
  std::uint64_t ended = 0;
  for (const metrics::ClassFigures& one : report.classes) {
    tokens += one.output_tokens;
    ended += one.ended;
    if (one.traffic.limits.empty() || one.ended == 0) continue;
    const score::WilsonInterval share =
        score::wilson(static_cast<double>(one.good), static_cast<double>(one.ended));
    out.kept = out.kept && one.attainment() >= target;
    out.surely_kept = out.surely_kept && share.low >= target;
    out.surely_missed = out.surely_missed || share.high < target;
  }
  const double seconds = report.window.seconds();
  out.kept = out.kept && ended > 0;
  out.surely_kept = out.surely_kept && ended > 0;
  out.tps = seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  out.qps = seconds > 0 ? static_cast<double>(ended) / seconds : 0;
  out.classes = metrics::to_json(report)["classes"];
  return out;
}

DeratingResult derating_result(DeratingStep step, const std::vector<DeratingProbe>& probes) {
  CHECK(!probes.empty());
  DeratingResult out{.step = step};
  if (step == DeratingStep::ideal) {
    const auto [least, most] = std::ranges::minmax_element(probes, {}, &DeratingProbe::tps);
    double sum = 0;
    for (const DeratingProbe& one : probes) sum += one.tps;
    out.load = most->load;
    out.tps = sum / static_cast<double>(probes.size());
    out.low = least->tps;
    out.high = most->tps;
    return out;
  }
  double missed = std::numeric_limits<double>::infinity();
  for (const DeratingProbe& one : probes) {
    if (one.surely_missed) missed = std::min(missed, one.load);
  }
  for (const DeratingProbe& one : probes) {
    if (one.kept && one.tps > out.tps) {
      out.tps = one.tps;
      out.load = one.load;
    }
    if (one.surely_kept) out.low = std::max(out.low, one.tps);
    if (one.load <= missed) out.high = std::max(out.high, one.tps);
  }
  out.high = std::max(out.high, out.tps);
  out.low = std::min(out.low, out.tps);
  return out;
}

Json derating_json(const std::vector<DeratingResult>& steps,
                   const std::vector<DeratingProbe>& probes, double target) {
  Json list = Json::array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DeratingResult& one = steps[i];
    Json row = Json()
                   .set("step", to_string(one.step))
                   .set("load", one.load)
                   .set("load_unit", is_closed(one.step) ? "in flight" : "queries a second")
                   .set("tps", one.tps)
                   .set("low", one.low)
                   .set("high", one.high);
    if (i > 0) {
      row.set("cost", cost_json(one, steps[i - 1])).set("left", cost_json(one, steps.front()));
    }
    list.push_back(std::move(row));
  }
  Json runs = Json::array();
  for (const DeratingProbe& one : probes) {
    runs.push_back(Json()
                       .set("step", to_string(one.step))
                       .set("folder", one.folder)
                       .set("load", one.load)
                       .set("tps", one.tps)
                       .set("qps", one.qps)
                       .set("kept", one.kept)
                       .set("classes", one.classes));
  }
  return Json()
      .set("derating", 1)
      .set("target", target)
      .set("steps", std::move(list))
      .set("runs", std::move(runs));
}

Result<std::vector<std::string>> derating_classes(const plan::SyntheticConfig& data,
                                                  DeratingStep step, double load) {
  ASSIGN_OR_RETURN(const auto known, parsed_classes(data.classes));
  const Lengths mean = mean_lengths(data, known);
  double shares = 0;
  for (const dataset::SyntheticClass& one : known) shares += one.share;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < known.size(); ++i) {
    std::string text = without(data.classes[i], {"share", "rate", "law"});
    if (step < DeratingStep::mix) {
      text = without(text, {"isl", "osl"}) + format(",isl={}", mean.prompt);
      if (mean.output > 0) text += format(",osl={}", mean.output);
    }
    text += format(",share={}", known[i].share);
    if (!is_closed(step)) {
      text += format(",rate={}", load * known[i].share / shares);
      if (step >= DeratingStep::bursts && !known[i].law.empty()) text += ",law=" + known[i].law;
    }
    out.push_back(std::move(text));
  }
  return out;
}

Result<std::vector<DeratingStep>> derating_steps(const plan::SyntheticConfig& data) {
  ASSIGN_OR_RETURN(const auto known, parsed_classes(data.classes));
  bool limited = false;
  bool bursts = false;
  bool mixed = false;
  for (const dataset::SyntheticClass& one : known) {
    if (!one.rate || *one.rate == 0) {
      return invalid(format("--derate: class {} has no rate: rate=20", one.name));
    }
    limited = limited || !one.slo.empty();
    bursts = bursts || !(one.law.empty() || one.law == "poisson");
    const auto varies = [](const std::optional<dataset::LengthSpec>& length) {
      return length && !length->is_fixed();
    };
    mixed = mixed || one.isl != known.front().isl || one.osl != known.front().osl ||
            varies(one.isl) || varies(one.osl);
  }
  if (!limited) {
    return invalid(
        "--derate: needs a class with limits: --class chat,rate=20,isl=300,osl=100,"
        "slo=ttft<=500ms");
  }
  std::vector<DeratingStep> out{DeratingStep::ideal, DeratingStep::limits, DeratingStep::arrivals};
  if (bursts) out.push_back(DeratingStep::bursts);
  if (mixed) out.push_back(DeratingStep::mix);
  return out;
}

Result<Json> measure_derating(const plan::SyntheticConfig& data, double target,
                              const MeasureClasses& measure,
                              const std::function<void(const std::string&)>& say) {
  ASSIGN_OR_RETURN(const std::vector<DeratingStep> steps, derating_steps(data));
  Ladder ladder(data, target, measure, say);
  TRY(ladder.closed_steps());
  for (const DeratingStep step : steps) {
    if (!is_closed(step)) TRY(ladder.open_step(step));
  }
  return ladder.json();
}

}  // namespace assay::campaign
