// Any other meter: a command that runs beside the load and prints one JSON object a line, as the
// reference client's power source of the same name does:
//
//   {"ts": 1764000000.25, "value": 412.5, "label": "rack 3"}
//
// `ts` is the wall clock's seconds since 1970 at which the value holds, this machine's where it is
// left out; `value` is watts, or with "kind": "energy" joules of a counter. A line that is none of
// this is counted and left out. The command runs by /bin/sh in a process group of its own, with
// nothing on its standard input; at the end the group gets SIGTERM and a second later SIGKILL. A
// command that ends before is a failed reading. The first reading waits for the first value, five
// seconds at most.
#pragma once

#include <memory>
#include <string>

#include "meter/source.h"

namespace assay::meter {

// `wall_minus_run`: from the run's clock to the wall clock.
Result<std::unique_ptr<Source>> command_source(const std::string& command, Duration interval,
                                               Duration wall_minus_run);

}  // namespace assay::meter
