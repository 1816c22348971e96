// Stand-in prompts: two for each category of MLPerf Client, and two agents' conversations, with the
// lengths and the output limits of Client's own files. They are made from fixed words, so a model's
// answers mean nothing; times and rates of a prompt's length do. Their figures do not compare with
// those of the real prompts, and results say which were asked. Pure; any thread.
#pragma once

#include <vector>

#include "desk/prompt_file.h"

namespace assay::desk {

// The groups base and extended, in Client's order.
std::vector<PromptFile> stand_in_prompts(bool agentic);

}  // namespace assay::desk
