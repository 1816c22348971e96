// The tables of settings: the meaning of every key of a config. Each function returns the rows of
// one part; config_part() returns all. Made at first use, then constant. Any thread.
#pragma once

#include "plan/schema.h"

namespace assay::plan {

const Part& config_part();
const Part& model_params_part();
const Part& dataset_part();
const Part& settings_part();

}  // namespace assay::plan
