// What a client was calibrated to be capable of, for people: a table in markdown of several
// certificates, and one certificate on the terminal. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "audit/certificate.h"

namespace assay::report {

// REQUIRES: one certificate at least.
std::string certificate_table(const std::vector<audit::Certificate>& all);
std::string certificate_text(const audit::Certificate& certificate);

}  // namespace assay::report
