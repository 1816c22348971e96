// The client's audit of itself, as in assay/client.json of a run folder. A reader ignores unknown
// keys and uses defaults for missing ones, so that older and newer folders can be read. Durations
// are nanoseconds and their keys end in _ns. Pure.
#pragma once

#include "base/json.h"
#include "domain/client_audit.h"

namespace assay::record {

Json client_audit_to_json(const ClientAudit& audit);
ClientAudit client_audit_from_json(const Json& json);

}  // namespace assay::record
