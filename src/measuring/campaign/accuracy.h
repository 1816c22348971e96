// Accuracy of a run, as its config asks for it: makes the scorers, replays the log through them and
// writes accuracy/accuracy_results.json (docs/formats/run_folder.md). Wiring only; the formulas are
// score/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "plan/make_plan.h"

namespace assay::campaign {

// Whether anything of the plan is to be scored.
bool wants_scores(const plan::Config& config, const plan::PlanBundle& bundle);

// What will not be scored, and why: a scorer that is not ours or lacks options. For notes before
// the run: its replies are kept, so that they can be scored afterwards.
std::vector<std::string> unscorable(const plan::Config& config, const plan::PlanBundle& bundle,
                                    bool allow_code);

// Scores and writes. A dataset that can't be scored has a null score and an "error"; where none can
// be, `refuse` writes nothing and the first error is the answer: after a run its other results
// stand, and to somebody who asked for scores alone there is nothing to show.
// `verdicts`, where given, gets a line of JSON for each reply that was judged.
enum class IfNone { write, refuse };
Result<Json> score_run(const std::filesystem::path& folder, const plan::Config& config,
                       const plan::PlanBundle& bundle, bool allow_code, IfNone if_none,
                       std::string* verdicts = nullptr);

// The first "error" of the results; "" when all went well.
std::string accuracy_trouble(const Json& results);
// Whether the workload's demands are not all met by the whole dataset; also where there are none.
bool accuracy_is_short(const Json& results);

}  // namespace assay::campaign
