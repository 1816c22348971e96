// The flags of commands that measure: how this client works and what decides its exit code.
#pragma once

#include "base/flags.h"
#include "campaign/recorded_run.h"

namespace assay::cli {

// `client` must outlive flags.parse().
void add_client_flags(Flags& flags, campaign::ClientOptions& client);

}  // namespace assay::cli
