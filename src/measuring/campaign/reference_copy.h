// A run of the reference client as a run folder of ours: the event log made of its events, its own
// config and scores beside it, and its summary under another name: the token figures there are of
// its tokenizer, and no event has them. The events themselves, which may be larger than memory,
// stay where they are.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "interchange/read/foreign_facts.h"

namespace assay::campaign {

// The summary that the client wrote, in a folder that was made of its run.
inline constexpr const char* kReferenceSummaryFile = "imported/result_summary.json";

// `path`: the client's folder, or the event file in it. `folder` exists; publish() comes after.
Result<void> copy_reference_run(const std::filesystem::path& path,
                                const interchange::ForeignFacts& facts,
                                const std::filesystem::path& folder);

}  // namespace assay::campaign
