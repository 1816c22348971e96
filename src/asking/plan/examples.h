// The commented configs of examples/, which `assay init` writes: each is read by the tests as a
// user's file is.
#pragma once

#include <vector>

#include "plan/workload.h"

namespace assay::plan {

// {"run.yaml", its text}, …; written by the build from examples/.
std::vector<EmbeddedFile> embedded_examples();

}  // namespace assay::plan
