// The flags of `assay curve`.
#pragma once

#include "campaign/curve/curve_prepare.h"
#include "cli/flags.h"

namespace assay::cli {

// `options` must outlive flags.parse().
void add_curve_flags(Flags& flags, campaign::CurveOptions& options);

}  // namespace assay::cli
