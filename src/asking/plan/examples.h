// The commented configs of examples/, which `assay init` writes. The tests read each one as a
// user's file.
#pragma once

#include <vector>

#include "plan/workload.h"

namespace assay::plan {

// Returns {"run.yaml", its text}, …; the build writes it from examples/.
std::vector<EmbeddedFile> embedded_examples();

}  // namespace assay::plan
