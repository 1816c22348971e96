#include "endpoint/fault.h"

#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::endpoint {
namespace {

Result<Fault> parse_fault(std::string_view name) {
  constexpr std::string_view kHttp = "http";
  if (name.starts_with(kHttp)) {
    const auto status = parse_uint(name.substr(kHttp.size()));
    if (!status || *status < 400 || *status > 599) {
      return invalid(format("fault '{}': write http and a status from 400 to 599", name));
    }
    return Fault{FaultKind::http, static_cast<std::uint16_t>(*status)};
  }
  const auto kind = enum_named<FaultKind>(name);
  if (kind && *kind != FaultKind::none) return Fault{*kind, 0};
  const std::string_view near = nearest(name, kEnumNames<FaultKind>);
  return invalid(format("no fault '{}'; {}", name,
                        near.empty() || near == "none"
                            ? "one of: reset, truncate, http500, http429, error, garbage, stall"
                            : format("did you mean '{}'?", near)));
}

}  // namespace

std::string_view to_string(FaultKind kind) { return enum_name(kind); }

std::string to_string(const Fault& fault) {
  if (fault.kind == FaultKind::http) return format("http{}", fault.status);
  return std::string(to_string(fault.kind));
}

Result<void> FaultPlan::add(std::string_view text) {
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return invalid(format("fault '{}': write NAME=PROBABILITY, for example reset=0.05", part));
    }
    ASSIGN_OR_RETURN(const Fault fault, parse_fault(trim(part.substr(0, equals))));
    const auto probability = parse_double(trim(part.substr(equals + 1)));
    if (!probability || !(*probability >= 0 && *probability <= 1)) {
      return invalid(format("fault '{}': the probability must be from 0 to 1", part));
    }
    rates_.push_back({fault, *probability});
  }
  double sum = 0;
  for (const FaultRate& rate : rates_) sum += rate.probability;
  if (sum > 1.0 + 1e-9) return invalid("faults: together their probabilities must not exceed 1");
  return {};
}

Fault FaultPlan::draw(Rng& rng) const {
  double at = rng.uniform();
  for (const FaultRate& rate : rates_) {
    if (at < rate.probability) return rate.fault;
    at -= rate.probability;
  }
  return {};
}

}  // namespace assay::endpoint
