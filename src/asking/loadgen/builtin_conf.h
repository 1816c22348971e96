// The configuration file that is compiled into LoadGen ("mlperf.conf"), of each release since v5.0,
// as data: it sets the seeds, the limits and the sample counts of every model before the user's
// file is read. Source: the inference repository's tags, and for v6.0 and v6.1 the commits in which
// their seeds stand. Pure data; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/conf_file.h"

namespace assay::loadgen {

// "v5.0", "v5.0.1", "v5.1", "v5.1.1", "v6.0", "v6.1": oldest first.
std::vector<std::string_view> conf_editions();
inline constexpr std::string_view kNewestConf = "v6.1";

// The file of an edition, as lines of the grammar that conf_file.h describes.
Result<std::string> builtin_conf_text(std::string_view edition);
Result<ConfFile> builtin_conf(std::string_view edition);
// The models that the edition has lines for, in the file's order.
Result<std::vector<std::string_view>> conf_models(std::string_view edition);

}  // namespace assay::loadgen
