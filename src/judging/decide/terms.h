// Terms: a reader's own price and limits, held against one curve: users served, dollars, joules,
// and what they rest on. No price is assumed: without one there is no cost. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "decide/limit.h"
#include "metrics/curve.h"

namespace assay::decide {

struct Terms {
  std::optional<double> price_per_hour{};  // dollars, for the whole system
  std::vector<Limit> limits{};             // how many users at once keep these?
};

// What a price is of: a million output tokens, or a thousand units of a kind of API that has one.
struct Lot {
  double size = 0;
  std::string words{};  // "a million tokens", "a thousand images"
  std::string key{};    // "dollars_per_million_tokens"
};
Lot lot_of(std::string_view unit);

// Dollars for a lot; nullopt where throughput or the price is unknown. `per_hour`: dollars for the
// whole system.
std::optional<double> per_lot(const metrics::CurvePoint& point, std::optional<double> per_hour);

// "scored at r64: 0.812" of the answer's own point, else of the nearest level; "not scored".
std::string accuracy_words(const metrics::Curve& curve, const metrics::CurvePoint& point);

// Users served, the limit that binds, cost, energy, accuracy, and the word "simulated" where it
// is one. "" without limits.
std::string users_sentence(const metrics::Curve& curve, const Terms& terms);

// metrics::curve_json with each point's cost and `slo_kept`, and `slo` (served_json).
Json curve_json(const metrics::Curve& curve, const Terms& terms);

}  // namespace assay::decide
