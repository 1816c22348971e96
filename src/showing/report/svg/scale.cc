#include "report/svg/scale.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::report::svg {
namespace {

// 1, 2 or 5 times a power of ten: the first at or above `rough`.
double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Steps of a clock, in seconds; below one second the steps are decimal.
double clock_step(double rough_seconds) {
  static constexpr std::array<double, 14> kSteps{1,   2,   5,   10,   15,   30,   60,
                                                 120, 300, 600, 1200, 1800, 3600, 7200};
  if (rough_seconds < 1) return round_step(rough_seconds);
  for (const double step : kSteps) {
    if (step >= rough_seconds) return step;
  }
  return 3600 * round_step(rough_seconds / 3600);
}

std::vector<double> linear_ticks(const Scale& scale, double step) {
  std::vector<double> out;
  const double slack = (scale.high - scale.low) * 1e-9;
  const auto first = static_cast<std::int64_t>(std::ceil((scale.low - slack) / step));
  const auto last = static_cast<std::int64_t>(std::floor((scale.high + slack) / step));
  for (std::int64_t i = first; i <= last; ++i) out.push_back(static_cast<double>(i) * step);
  return out;
}

std::vector<double> log_ticks_with(const Scale& scale, const std::vector<double>& factors) {
  std::vector<double> out;
  const int first = static_cast<int>(std::floor(std::log10(scale.low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(scale.high) - 1e-9));
  for (int power = first; power <= last; ++power) {
    for (const double factor : factors) {
      const double value = factor * std::pow(10.0, power);
      if (value >= scale.low * (1 - 1e-9) && value <= scale.high * (1 + 1e-9)) out.push_back(value);
    }
  }
  return out;
}

std::vector<double> log_ticks(const Scale& scale, int wanted) {
  // Over less than half a decade a logarithm is nearly straight, so even steps read better.
  if (scale.high < 3 * scale.low) {
    return linear_ticks(scale, round_step((scale.high - scale.low) / wanted));
  }
  const auto most = static_cast<std::size_t>(wanted + 1);
  for (const std::vector<double>& factors :
       {std::vector<double>{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}}) {
    std::vector<double> out = log_ticks_with(scale, factors);
    if (out.size() <= most) return out;
  }
  // Whole powers of ten: every one, or every second, third, ... when there are many.
  const std::vector<double> powers = log_ticks_with(scale, {1});
  const std::size_t stride = powers.size() / (most + 1) + 1;
  std::vector<double> out;
  for (std::size_t i = 0; i < powers.size(); i += stride) out.push_back(powers[i]);
  return out;
}

struct Unit {
  double value = 1;
  std::string_view name{};
};

Unit unit_of(Quantity quantity, double largest) {
  if (quantity != Quantity::duration) return {1, ""};
  if (largest >= 1e9) return {1e9, " s"};
  if (largest >= 1e6) return {1e6, " ms"};
  return largest >= 1e3 ? Unit{1e3, " µs"} : Unit{1, " ns"};
}

}  // namespace

double Scale::operator()(double value) const {
  if (logarithmic) {
    const double held = std::clamp(value, low, high);
    return from + (to - from) * std::log(held / low) / std::log(high / low);
  }
  const double held = std::clamp(value, low, high);
  return from + (to - from) * (held - low) / (high - low);
}

Scale linear_scale(double low, double high) {
  CHECK(std::isfinite(low) && std::isfinite(high));
  if (!(high > low)) high = low + (low == 0 ? 1 : std::fabs(low) * 0.1);
  const double step = round_step((high - low) / 5) / 2;
  Scale scale;
  scale.low = std::floor(low / step + 1e-9) * step;
  scale.high = std::ceil(high / step - 1e-9) * step;
  return scale;
}

Scale log_scale(double low, double high) {
  CHECK(low > 0 && std::isfinite(low) && std::isfinite(high));
  if (!(high > low * 1.01)) high = low * 1.5;
  Scale scale;
  scale.logarithmic = true;
  // A tenth of a decade beyond both ends keeps the first and last marks off the frame.
  const double room = std::pow(high / low, 0.03);
  scale.low = low / room;
  scale.high = high * room;
  return scale;
}

std::vector<double> ticks(const Scale& scale, Quantity quantity, int wanted) {
  CHECK(wanted > 0 && scale.high > scale.low);
  if (scale.logarithmic) return log_ticks(scale, wanted);
  const double rough = (scale.high - scale.low) / wanted;
  const double step =
      quantity == Quantity::elapsed ? 1e9 * clock_step(rough / 1e9) : round_step(rough);
  return linear_ticks(scale, step);
}

std::vector<std::string> tick_labels(const Scale& scale, Quantity quantity,
                                     const std::vector<double>& values) {
  const bool own_words = quantity == Quantity::elapsed || quantity == Quantity::share;
  const bool even = !scale.logarithmic || scale.high < 3 * scale.low;
  std::vector<std::string> out;
  if (!even || own_words || values.size() < 2) {
    for (const double value : values) out.push_back(tick_text(quantity, value));
    return out;
  }
  const Unit unit =
      unit_of(quantity, std::max(std::fabs(values.front()), std::fabs(values.back())));
  const double step = (values[1] - values[0]) / unit.value;
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  for (const double value : values) {
    const double scaled = value / unit.value;
    if (std::fabs(scaled) < step / 2) {
      out.emplace_back("0");
    } else if (digits == 0 && std::fabs(scaled) < 1e15) {
      out.push_back(with_thousands(std::llround(scaled)) + std::string(unit.name));
    } else {
      out.push_back(format("{:.{}f}{}", scaled, digits, unit.name));
    }
  }
  return out;
}

}  // namespace assay::report::svg
