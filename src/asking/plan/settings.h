// The tables of settings: what every key of a config means. Each function gives the rows of one
// part; the whole is config_part(). Made at first use, then constant. Any thread.
#pragma once

#include "plan/schema.h"

namespace assay::plan {

const Part& config_part();
const Part& model_params_part();
const Part& dataset_part();
const Part& settings_part();

}  // namespace assay::plan
