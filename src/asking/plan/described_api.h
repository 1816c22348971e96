// A kind of API that a file describes (docs/formats/kind.md), in a config: endpoint_config.kind is
// {file: its path}, or what is in it. A config that was read holds the content, so a saved config
// asks as the run did, whatever becomes of the file.
//
// Both functions read the file. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "domain/described_kind.h"
#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// Errors begin with the file's name; at most 1 MiB of it.
Result<DescribedKind> load_described_kind(const std::string& path);

// Reads the config's kind, and sets api_type. Problems go to `reading`.
void read_kind(Config& config, Reading& reading);

}  // namespace assay::plan
