// A query of a Prometheus server, asked again and again beside the load: power in watts, a value
// for each series of the result, at the instant of the question. A URL with its query:
// http://host:9090/api/v1/query?query=sum(rack_watts). The answer of an instant query is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "meter/source.h"
#include "protocol/endpoint_capture.h"

namespace assay::meter {

// The series of an answer, as `meter_power_watts`. The error says why it is none.
Result<std::vector<observe::PrometheusSample>> read_query_answer(std::string_view json);

Result<std::unique_ptr<Source>> query_source(protocol::ProbeQuestion question, std::string shown,
                                             Duration interval, const Clock& clock);

}  // namespace assay::meter
