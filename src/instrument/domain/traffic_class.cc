#include "domain/traffic_class.h"

#include <array>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> kSeries = {"ttft", "tpot", "latency"};
constexpr double kShareMax = 1e9;

}  // namespace

Result<std::vector<ClassLimit>> parse_class_limits(std::string_view text) {
  std::vector<ClassLimit> out;
  if (trim(text).empty()) return out;
  for (const std::string_view part : split(text, '&')) {
    const std::size_t sign = part.find("<=");
    const std::string_view series = trim(part.substr(0, std::min(sign, part.size())));
    bool known = false;
    for (const std::string_view one : kSeries) known = known || one == series;
    if (sign == std::string_view::npos || !known) {
      return invalid(
          format("\"{}\" is not a limit of a class: write ttft<=500ms&tpot<=20ms, of ttft, "
                 "tpot and latency",
                 trim(part)));
    }
    const auto most = parse_duration(trim(part.substr(sign + 2)), 1_s);
    if (!most || most->ns <= 0) {
      return invalid(format("\"{}\": a limit is a time above 0, such as 500ms", trim(part)));
    }
    out.push_back({std::string(series), *most});
  }
  return out;
}

std::size_t class_of(const TrafficMix& mix, std::uint32_t row) {
  CHECK(!mix.empty());
  double total = 0;
  for (const TrafficClass& one : mix) total += one.share;
  // Multiples of the golden ratio, modulo 1, lie as evenly as any sequence does.
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  const std::uint64_t place = (std::uint64_t{row} + 1) * kGolden;
  const double at = static_cast<double>(place >> 11) * 0x1.0p-53 * total;
  double below = 0;
  for (std::size_t i = 0; i + 1 < mix.size(); ++i) {
    below += mix[i].share;
    if (at < below) return i;
  }
  return mix.size() - 1;
}

Json to_json(const TrafficMix& mix) {
  Json out = Json::array();
  for (const TrafficClass& one : mix) {
    out.push_back(Json().set("name", one.name).set("share", one.share).set("slo", one.slo));
  }
  return out;
}

Result<TrafficMix> mix_from_facts(const Json& facts) {
  TrafficMix out;
  for (const Json& one : facts[kClassesFact].items()) {
    TrafficClass read{.name = std::string(one["name"].as_string()),
                      .share = one["share"].as_double(),
                      .slo = std::string(one["slo"].as_string())};
    if (read.name.empty() || !(read.share > 0 && read.share <= kShareMax)) {
      return Error{Code::corrupt, "the run's classes: one has no name, or no share above 0"};
    }
    ASSIGN_OR_RETURN(read.limits, parse_class_limits(read.slo));
    out.push_back(std::move(read));
    if (out.size() > kClassesMax) return Error{Code::corrupt, "the run's classes: too many"};
  }
  return out;
}

}  // namespace assay
