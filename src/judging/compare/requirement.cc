#include "compare/requirement.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"

namespace assay::compare {
namespace {

using metrics::Distribution;
using metrics::Point;

struct Series {
  std::string_view name{};
  Unit unit = Unit::time;
  const Distribution& (*of)(const Point&) = nullptr;
};

template <Distribution metrics::Latencies::*series>
const Distribution& times(const Point& point) {
  return point.arrival.*series;
}
template <Distribution metrics::Audio::*series>
const Distribution& of_audio(const Point& point) {
  return point.audio.*series;
}
template <Distribution Point::*series>
const Distribution& of_point(const Point& point) {
  return point.*series;
}

constexpr std::array kSeries{
    Series{"ttft", Unit::time, times<&metrics::Latencies::ttft>},
    Series{"ttft_due", Unit::time, times<&metrics::Latencies::ttft_due>},
    Series{"ttft_visible", Unit::time, times<&metrics::Latencies::ttft_visible>},
    Series{"tpot", Unit::time, times<&metrics::Latencies::tpot>},
    Series{"itl", Unit::time, times<&metrics::Latencies::itl>},
    Series{"latency", Unit::time, times<&metrics::Latencies::latency>},
    Series{"latency_due", Unit::time, times<&metrics::Latencies::latency_due>},
    Series{"lateness", Unit::time, of_point<&Point::lateness>},
    Series{"first_audio", Unit::time, of_audio<&metrics::Audio::first>},
    Series{"first_audio_due", Unit::time, of_audio<&metrics::Audio::first_due>},
    Series{"audio_speed", Unit::rate, of_audio<&metrics::Audio::speed>},
    Series{"isl", Unit::tokens, of_point<&Point::isl>},
    Series{"osl", Unit::tokens, of_point<&Point::osl>},
};

// The statistic behind the last underscore: p99.9, mean, min, max. nullopt: there is no such one.
std::optional<double> statistic(const Distribution& series, std::string_view name) {
  if (name == "mean") return series.mean;
  if (name == "min") return series.min;
  if (name == "max") return series.max;
  if (name == "median") return series.median();
  if (!name.starts_with('p')) return std::nullopt;
  const auto percentile = parse_double(name.substr(1));
  const auto& known = metrics::kPercentiles;
  if (!percentile || std::ranges::find(known, *percentile) == known.end()) return std::nullopt;
  return series.percentile(*percentile);
}

const Series* series_of(std::string_view figure, std::string_view& ending) {
  const std::size_t line = figure.rfind('_');
  if (line == std::string_view::npos) return nullptr;
  ending = figure.substr(line + 1);
  const auto at = std::ranges::find(kSeries, figure.substr(0, line), &Series::name);
  return at == kSeries.end() ? nullptr : &*at;
}

struct Plain {
  std::string_view name{};
  Unit unit = Unit::rate;
  std::optional<double> (*of)(const Point&) = nullptr;
};

double number(std::uint64_t value) { return static_cast<double>(value); }

constexpr std::array kPlain{
    Plain{"qps", Unit::rate,
          [](const Point& p) -> std::optional<double> {
            return p.rates.duration > Duration{} ? std::optional(p.rates.qps) : std::nullopt;
          }},
    Plain{"system_tps", Unit::rate, [](const Point& p) { return p.rates.tps; }},
    Plain{"tps_per_user", Unit::rate, [](const Point& p) { return p.rates.tps_per_user; }},
    Plain{"units_per_second", Unit::rate, [](const Point& p) { return p.units.per_second; }},
    Plain{"underruns", Unit::count,
          [](const Point& p) -> std::optional<double> {
            return p.audio.played > 0 ? std::optional(number(p.audio.waited)) : std::nullopt;
          }},
    Plain{"issued", Unit::count,
          [](const Point& p) -> std::optional<double> { return number(p.counts.issued); }},
    Plain{"completed", Unit::count,
          [](const Point& p) -> std::optional<double> { return number(p.counts.completed); }},
    Plain{"failed", Unit::count,
          [](const Point& p) -> std::optional<double> { return number(p.counts.failed); }},
};

struct Operator {
  std::string_view text{};
  Relation relation = Relation::at_most;
};
constexpr std::array kOperators{Operator{"<=", Relation::at_most},
                                Operator{">=", Relation::at_least}, Operator{"<", Relation::below},
                                Operator{">", Relation::above}};

Error wrong(std::string_view part) {
  std::string percentiles;
  for (const double p : metrics::kPercentiles) {
    percentiles += format("{}p{:g}", percentiles.empty() ? "" : ", ", p);
  }
  return invalid(
      format("--require: '{}': written as ttft_p95<=200ms, failed<=0.1% or system_tps>=5000\n"
             "  figures: ttft, ttft_due, ttft_visible, tpot, itl, latency, latency_due, lateness, "
             "first_audio, first_audio_due, audio_speed, isl, osl, each with _mean, _median, _min, "
             "_max or a percentile ({}); qps, system_tps, tps_per_user, units_per_second, "
             "underruns (players that had to wait), issued, completed, failed",
             part, percentiles));
}

// The value in its unit. A percentage is a share, which only counts of queries have.
Result<void> read_value(std::string_view text, Requirement& out) {
  if (out.unit == Unit::time) {
    ASSIGN_OR_RETURN(const Duration time, parse_duration(text, 1_ms));
    if (text.find_first_not_of("0123456789.") == std::string_view::npos) {
      return invalid("a time needs its unit: 200ms, 2s");
    }
    out.value = static_cast<double>(time.ns);
    return {};
  }
  if (text.ends_with('%')) {
    if (out.figure != "failed" && out.figure != "completed" && out.figure != "underruns") {
      return invalid("only failed, completed and underruns have a share");
    }
    out.unit = Unit::share;
    ASSIGN_OR_RETURN(const double percent, parse_double(trim(text.substr(0, text.size() - 1))));
    out.value = percent / 100;
    return {};
  }
  ASSIGN_OR_RETURN(out.value, parse_double(text));
  return {};
}

Result<Requirement> parse_one(std::string_view part) {
  Requirement out{.text = std::string(part)};
  const std::size_t at = part.find_first_of("<>");
  if (at == std::string_view::npos) return wrong(part);
  const auto found = std::ranges::find_if(
      kOperators, [&](const Operator& o) { return part.substr(at).starts_with(o.text); });
  out.figure = trim(part.substr(0, at));
  out.relation = found->relation;
  std::string_view ending;
  const Series* const series = series_of(out.figure, ending);
  const auto plain = std::ranges::find(kPlain, out.figure, &Plain::name);
  if (series != nullptr && statistic(Distribution{}, ending)) {
    out.unit = series->unit;
  } else if (plain != kPlain.end()) {
    out.unit = plain->unit;
  } else {
    return wrong(part);
  }
  const auto read = read_value(trim(part.substr(at + found->text.size())), out);
  if (!read) return invalid(format("--require: '{}': {}", part, read.error().message));
  if (!std::isfinite(out.value) || out.value < 0) return wrong(part);
  return out;
}

std::optional<double> figure_in(const Requirement& requirement, const Point& point) {
  std::string_view ending;
  if (const Series* const series = series_of(requirement.figure, ending)) {
    const Distribution& values = series->of(point);
    return values.empty() ? std::nullopt : statistic(values, ending);
  }
  const auto plain = std::ranges::find(kPlain, requirement.figure, &Plain::name);
  const std::optional<double> value = plain->of(point);
  if (requirement.unit != Unit::share || !value) return value;
  if (point.counts.issued == 0) return std::nullopt;
  return *value / number(point.counts.issued);
}

bool holds(double figure, Relation relation, double value) {
  switch (relation) {
    case Relation::at_most:
      return figure <= value;
    case Relation::below:
      return figure < value;
    case Relation::at_least:
      return figure >= value;
    case Relation::above:
      return figure > value;
  }
  return false;
}

std::string shown(double value, Unit unit) {
  switch (unit) {
    case Unit::time:
      return human_duration({std::llround(value)});
    case Unit::share:
      return format("{:.4g} %", 100 * value);
    case Unit::count:
      return format("{:.0f}", value);
    default:
      return format("{:.6g}", value);
  }
}

}  // namespace

Result<std::vector<Requirement>> parse_requirements(const std::vector<std::string>& texts) {
  std::vector<Requirement> out;
  for (const std::string& text : texts) {
    for (const std::string_view part : split(text, ',')) {
      ASSIGN_OR_RETURN(Requirement one, parse_one(trim(part)));
      out.push_back(std::move(one));
    }
  }
  return out;
}

std::vector<RequirementVerdict> judge(const std::vector<Requirement>& requirements,
                                      const metrics::Point& point) {
  std::vector<RequirementVerdict> out;
  for (const Requirement& one : requirements) {
    RequirementVerdict verdict{.requirement = one, .figure = figure_in(one, point)};
    verdict.met = verdict.figure && holds(*verdict.figure, one.relation, one.value);
    out.push_back(std::move(verdict));
  }
  return out;
}

std::string to_string(const RequirementVerdict& verdict) {
  const Requirement& one = verdict.requirement;
  if (!verdict.figure) return format("{}: the run has no such figure, not met", one.text);
  return format("{}: {}, {}", one.text, shown(*verdict.figure, one.unit),
                verdict.met ? "met" : "not met");
}

Json to_json(const std::vector<RequirementVerdict>& verdicts) {
  constexpr std::array<std::string_view, 5> kUnits{"ns", "tokens", "per_s", "queries", "share"};
  Json out = Json::array();
  for (const RequirementVerdict& verdict : verdicts) {
    Json one = Json::object();
    one.set("requirement", verdict.requirement.text)
        .set("figure", verdict.figure ? Json(*verdict.figure) : Json())
        .set("unit", kUnits[static_cast<std::size_t>(verdict.requirement.unit)])
        .set("met", verdict.met);
    out.push_back(std::move(one));
  }
  return out;
}

std::string requirements_junit(std::string_view suite, const std::vector<Judged>& judged) {
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  for (const Judged& one : judged) {
    for (const RequirementVerdict& verdict : one.verdicts) {
      ++tests;
      const std::string message = markup_text(to_string(verdict));
      cases += format("  <testcase classname=\"{}\" name=\"{}\">\n", markup_text(one.name),
                      markup_text(verdict.requirement.text));
      if (verdict.met) {
        cases += format("    <system-out>{}</system-out>\n", message);
      } else {
        ++failures;
        cases += format("    <failure message=\"{}\"/>\n", message);
      }
      cases += "  </testcase>\n";
    }
  }
  return format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\">\n"
      "{}</testsuite>\n",
      markup_text(suite), tests, failures, cases);
}

}  // namespace assay::compare
