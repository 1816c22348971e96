// The flags of commands that measure: how this client works and what its exit code follows from.
#pragma once

#include "base/flags.h"
#include "campaign/recorded_run.h"

namespace assay::cli {

// `client` must outlive flags.parse().
void add_client_flags(Flags& flags, campaign::ClientOptions& client);

}  // namespace assay::cli
