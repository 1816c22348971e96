// The judging part of probe.h for a kind that answers with sound. Pure; any thread.
#pragma once

#include <string>

#include "protocol/probe.h"

namespace assay::protocol {

// How a sound came that was asked for as bytes, and whether it comes as events too. `missing`: what
// came instead of a reply; "" where one came.
void find_sound(const std::string& missing, const ProbeAnswers& answers, ProbeReport& report);

}  // namespace assay::protocol
