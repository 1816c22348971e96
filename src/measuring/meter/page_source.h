// A page of metrics in Prometheus' text format: an engine's /metrics, the DCGM exporter's. One GET
// a reading, over a kept connection; the values' instant is the middle of it. A page without one
// readable sample, or with a status other than 200, is a failed reading.
#pragma once

#include <memory>
#include <string>

#include "meter/source.h"
#include "protocol/probe.h"

namespace assay::meter {

// The question's URL without a path means /metrics. `shown`: the URL without its secrets. The
// question's key and headers are sent with it. The clock must outlive the source.
Result<std::unique_ptr<Source>> page_source(protocol::ProbeQuestion question, std::string shown,
                                            Duration interval, const Clock& clock);

}  // namespace assay::meter
