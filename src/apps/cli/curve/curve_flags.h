// The flags of `assay curve`.
#pragma once

#include "base/flags.h"
#include "campaign/curve/curve_prepare.h"

namespace assay::cli {

// `options` must outlive flags.parse().
void add_curve_flags(Flags& flags, campaign::CurveOptions& options);

}  // namespace assay::cli
