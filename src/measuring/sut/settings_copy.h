// Between LoadGen's settings (sut/mlperf/test_settings.h) and ours (loadgen/settings.h), which lack
// the search for the peak and the number of issue threads. Pure; any thread.
#pragma once

#include "loadgen/settings.h"
#include "sut/mlperf/test_settings.h"

namespace assay::sut {

loadgen::TestSettings settings_of(const mlperf::TestSettings& settings);
// What ours have; the others stay.
void set_from(const loadgen::TestSettings& from, mlperf::TestSettings& to);

}  // namespace assay::sut
