// A modelled system and its load as a person describes them, and what they mean: shared by
// `assay simulate` and `assay twin`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/catalogue.h"
#include "sim/scenario.h"
#include "sim/simulate.h"

namespace assay::simulate {

struct SystemWords {
  sim::Scenario scenario{};
  std::string file{};  // a scenario file, in place of the system flags
  std::int64_t gpus = 0;
  std::optional<std::int64_t> mtp{};
  std::int64_t decode_batch = 0;
  std::string acceptance{};
  std::string isl{};  // "": as in a twin's runs, else kLengthElse
  std::string osl{};
  std::string prefixes{};  // a tree, as `assay run --shared-prefix`
  std::int64_t seed = 42;  // like `assay run --run-seed`
  std::vector<std::string> catalogue{};
  bool no_prefix_cache = false;

  Result<sim::Scenario> resolve() const;
  // Without lengths from the user, uses those of the runs that a catalogue's twin was fitted to.
  Result<sim::Workload> workload(const sim::Catalogue& known) const;
  std::string lengths_text(const sim::Catalogue& known) const;
  Result<sim::Catalogue> read_catalogue() const;
};

inline constexpr const char* kLengthElse = "1024";
inline constexpr std::string_view kSweep = "sweep";

// "4,16,64" or "sweep": powers of two, of which the caller takes those up to its peak.
Result<std::vector<std::uint32_t>> concurrency_levels(const std::string& text);

}  // namespace assay::simulate
