// What the client found out about itself, as assay/client.json of a run folder keeps it. Unknown
// keys are passed over when reading, missing ones keep their defaults, so that older and newer
// folders both read. Durations are nanoseconds and their keys end in _ns. Pure.
#pragma once

#include "base/json.h"
#include "domain/client_audit.h"

namespace assay::record {

Json client_audit_to_json(const ClientAudit& audit);
ClientAudit client_audit_from_json(const Json& json);

}  // namespace assay::record
