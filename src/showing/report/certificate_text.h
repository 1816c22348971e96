// The load that a client was calibrated to carry, for people: several certificates as a markdown
// table, and one certificate for the terminal. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "audit/certificate.h"

namespace assay::report {

// REQUIRES: at least one certificate.
std::string certificate_table(const std::vector<audit::Certificate>& all);
std::string certificate_text(const audit::Certificate& certificate);

}  // namespace assay::report
