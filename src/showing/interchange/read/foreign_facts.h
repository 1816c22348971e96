// The facts that a comparison needs of a run measured by another tool: model, API, load. Names and
// spellings are those of our own runs' facts, so that the same load compares as equal.
//
// Pure. docs/formats/interchange.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "domain/run_info.h"

namespace assay::interchange {

// Empty fields are not known.
struct ForeignFacts {
  std::string model{};
  std::string api{};                    // ours ("openai"), or the tool's own word for another
  std::optional<double> rate{};         // queries a second, in an open loop
  std::string pattern{};                // of the rate: "poisson", "constant", "gamma"
  std::optional<double> concurrency{};  // when there is a rate too: a cap
};

// Reads the figures that AIPerf writes beside its requests (profile_export_aiperf.json).
// `input_config` holds the user's settings, in the spelling of versions up to 0.12 or from 0.13 on.
// A setting that was not given is missing there; AIPerf's documented default stands in for it.
Result<ForeignFacts> read_aiperf_facts(std::string_view figures);

// The API for a path or for a tool's name of it: "chat", "v1/completions", …
std::string foreign_api(std::string_view name);

// run_config.load_pattern, as in our own runs' facts; null where neither rate nor concurrency is
// known.
Json load_pattern_facts(const ForeignFacts& facts);

// Writes the known fields of `facts` into info.facts, and leaves the rest as it is.
void add_facts(RunInfo& info, const ForeignFacts& facts);

}  // namespace assay::interchange
