// The parts of an endpoint's settings that no reply may bring into our files: the key, the words of
// headers that authorise, the values of the user's other headers, secret values in a URL's query.
#pragma once

#include "base/redact.h"
#include "domain/request_spec.h"

namespace assay::protocol {

Redactor redactor_of(const Endpoints& endpoints);

}  // namespace assay::protocol
