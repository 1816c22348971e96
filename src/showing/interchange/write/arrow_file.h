// A table (columns.h) as an Apache Arrow IPC file (".arrow", also known as Feather 2): its buffers
// as they lie in memory, one record batch, a dictionary for each column of words, not compressed. A
// reader maps the file and copies nothing.
// https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
//
// The text holds the whole file. Any thread.
#pragma once

#include <string>

#include "interchange/write/columns.h"

namespace assay::interchange {

std::string write_arrow(const Columns& table);

}  // namespace assay::interchange
