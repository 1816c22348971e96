#include "sim/delay.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::sim {
namespace {

constexpr Duration kLongest{365LL * 24 * 3600 * 1'000'000'000};
constexpr double kSigmaMax = 10;

Error bad(std::string_view text, std::string_view why) {
  return invalid(
      format("'{}': {}; write 0, 50ms, normal:50ms,5ms, lognormal:50ms,0.5 or "
             "exponential:50ms",
             text, why));
}

Result<Duration> parse_time(std::string_view text) {
  ASSIGN_OR_RETURN(const Duration time, parse_duration(trim(text), 1_ms));
  if (time < Duration{} || time > kLongest) return invalid("must be between 0 and a year");
  return time;
}

std::string time_text(Duration time) {
  if (time.ns % 1'000'000 == 0) return format("{}ms", time.ns / 1'000'000);
  if (time.ns % 1'000 == 0) return format("{}us", time.ns / 1'000);
  return format("{}us", static_cast<double>(time.ns) * 1e-3);
}

}  // namespace

Result<Delay> parse_delay(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = colon == std::string_view::npos ? "fixed" : text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const std::size_t comma = rest.find(',');
  const auto center = parse_time(rest.substr(0, comma));
  if (!center) return bad(text, center.error().message);
  const bool two = comma != std::string_view::npos;
  if (kind == "fixed" && !two) return Delay::fixed(*center);
  if (kind == "exponential" && !two) return Delay{Delay::Kind::exponential, *center, 0};
  if (kind == "normal" && two) {
    const auto spread = parse_time(rest.substr(comma + 1));
    if (!spread) return bad(text, spread.error().message);
    return Delay{Delay::Kind::normal, *center, static_cast<double>(spread->ns)};
  }
  if (kind == "lognormal" && two) {
    const auto sigma = parse_double(trim(rest.substr(comma + 1)));
    if (!sigma || *sigma < 0 || *sigma > kSigmaMax) return bad(text, "sigma must be in 0 to 10");
    return Delay{Delay::Kind::lognormal, *center, *sigma};
  }
  return bad(text, "is not a time or distribution");
}

std::string to_string(const Delay& delay) {
  switch (delay.kind) {
    case Delay::Kind::fixed:
      return delay.center.ns == 0 ? "0" : time_text(delay.center);
    case Delay::Kind::normal:
      return format("normal:{},{}", time_text(delay.center),
                    time_text({static_cast<std::int64_t>(delay.spread)}));
    case Delay::Kind::lognormal:
      return format("lognormal:{},{}", time_text(delay.center), delay.spread);
    case Delay::Kind::exponential:
      return format("exponential:{}", time_text(delay.center));
  }
  CHECK(false && "no such Delay::Kind");
}

Duration draw_delay(const Delay& delay, Rng& rng) {
  const auto center = static_cast<double>(delay.center.ns);
  double ns = center;
  switch (delay.kind) {
    case Delay::Kind::fixed:
      return delay.center;
    case Delay::Kind::normal:
      ns = center + delay.spread * rng.normal();
      break;
    case Delay::Kind::lognormal:
      ns = center * std::exp(delay.spread * rng.normal());
      break;
    case Delay::Kind::exponential:
      ns = rng.exponential(center);
      break;
  }
  return {static_cast<std::int64_t>(std::clamp(ns, 0.0, static_cast<double>(kLongest.ns)) + 0.5)};
}

}  // namespace assay::sim
