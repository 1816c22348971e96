// Scores the accuracy of a run as its config asks: makes the scorers, replays the log through them
// and writes accuracy/accuracy_results.json, accuracy/sample_scores.jsonl and
// accuracy/judged_replies.json (docs/formats/run_folder.md). Wiring only; the formulas are in
// score/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "plan/make_plan.h"

namespace assay::campaign {

// Whether any part of the plan is to be scored.
bool wants_scores(const plan::Config& config, const plan::PlanBundle& bundle);

// Datasets that will not be scored, and why: an external scorer, or one that lacks options. For
// notes before the run: it keeps the replies, so that they can be scored later.
std::vector<std::string> unscorable(const plan::Config& config, const plan::PlanBundle& bundle,
                                    bool allow_code);

// Scores and writes. A dataset that can't be scored has a null score and an "error". If none can be
// scored, `refuse` writes nothing and returns the first error: after a run the other results still
// count, but a caller that wants only scores has nothing to show.
// `verdicts`, if given, gets a line of JSON for each judged reply.
enum class IfNone { write, refuse };
Result<Json> score_run(const std::filesystem::path& folder, const plan::Config& config,
                       const plan::PlanBundle& bundle, bool allow_code, IfNone if_none,
                       std::string* verdicts = nullptr);

std::filesystem::path sample_scores_file(const std::filesystem::path& folder);

// The first "error" of the results; "" without errors.
std::string accuracy_trouble(const Json& results);
// Whether the whole dataset misses a demand of the workload; also where there are no results.
bool accuracy_is_short(const Json& results);

}  // namespace assay::campaign
