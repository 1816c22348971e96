// What a comparison wants to know of a run that another tool measured: model, API, load. Names and
// spellings are those of our own runs' facts, so that the same work is not taken for another.
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

// Empty: nobody says.
struct ForeignFacts {
  std::string model{};
  std::string api{};                    // ours ("openai"), or the tool's own word for another
  std::optional<double> rate{};         // queries a second; open loop
  std::string pattern{};                // of a rate: "poisson", "constant", "gamma"
  std::optional<double> concurrency{};  // beside a rate: a cap
};

// The figures that AIPerf writes beside its requests (profile_export_aiperf.json): `input_config`
// has what was asked, in the words of its versions up to 0.12 or from 0.13 on. Settings that were
// not given are not in it, and stand as AIPerf's documented defaults.
Result<ForeignFacts> read_aiperf_facts(std::string_view figures);

// An API by the path or the tool's name of it: "chat", "v1/completions", …
std::string foreign_api(std::string_view name);

// run_config.load_pattern, as in the facts of a run of ours; null where neither number is known.
Json load_pattern_facts(const ForeignFacts& facts);

// Sets in info.facts what `facts` says, and leaves the rest as it is.
void add_facts(RunInfo& info, const ForeignFacts& facts);

}  // namespace assay::interchange
