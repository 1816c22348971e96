// Power: the provisioned (not measured) power of a system, added up from system_power.json by the
// rules, and the part of it that a point uses.
//
//     System = Major + Other + PublishedNodes + ScaleOutSwitches
//     Major  = Σ over component_sum sets: nodes · (CPU + accelerator + scale-up) + counted NICs
//     Other  = f · Major,  f = 0.30 for liquid cooling, 0.50 for air or a mixture
//     PublishedNodes = Σ nodes · P_node, or P_rack · nodes / nodes in the rack
//     ScaleOutSwitches = Σ count · P_switch                 (wall power, outside the overhead)
//
// A declared provisioned power replaces the sum. A part without a figure gets the rules' default
// (Appendix D), which marks the result as estimated; if there is no default, the file is an error.
// Scale-up by bandwidth: W = TB/s · 8 · pJ/bit, with the aggregate counted once. Internal unit:
// watts; output: kilowatts with two decimals. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::rulebook {

// An error or warning of a power file: the value's JSON pointer and two halves of a sentence.
struct PowerIssue {
  std::string pointer{};
  std::string found{};
  std::string expected{};
};

struct NodeSetPower {
  std::int64_t ensemble = 0;
  std::int64_t nodes = 0;
  double watts = 0;  // of all its nodes, with the overhead
  // Accelerators in a node, by the set's components; nullopt if it has none.
  std::optional<std::int64_t> accelerators{};
};

struct Power {
  std::vector<PowerIssue> errors{};
  std::vector<PowerIssue> warnings{};
  // Parts with a default figure.
  std::vector<PowerIssue> estimated{};

  double major_w = 0;
  double overhead_fraction = 0;
  double other_w = 0;
  double published_w = 0;
  double switch_w = 0;
  double total_w = 0;
  std::vector<NodeSetPower> sets{};
  bool declared = false;  // total_w is the declared power

  bool good() const { return errors.empty(); }
  double provisioned_kw() const;  // two decimals
  std::int64_t nodes() const;
};

// `description`: the system_desc.json of the same system; null if there is none.
Power compute_power(const Json& file, const Json& description);

// A point's nodes_used: ensemble and nodes. A set that is not named is used as a whole.
struct NodesUsed {
  std::int64_t ensemble = 0;
  std::int64_t nodes = 0;
};
// Returns the kilowatts of a point on these nodes, with two decimals.
double point_power_kw(const Power& power, const std::vector<NodesUsed>& used);

// Returns 0.30 for liquid, water or immersion, 0.50 for air; nullopt for other words.
std::optional<double> cooling_fraction(std::string_view words);

// Defaults of Appendix D, in watts; nullopt if it has none.
std::optional<double> default_accelerator_w(std::string_view model);
std::optional<double> default_cpu_w(std::string_view model, std::int64_t cores);
std::optional<double> default_switch_w(std::string_view model, bool optical);
constexpr double kDefaultNicW = 75;

}  // namespace assay::rulebook
