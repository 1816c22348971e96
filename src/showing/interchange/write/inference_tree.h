// A submission tree of MLPerf Inference (v6.0 and v6.1) from folders of LoadGen's logs, as a plan
// lays them out. The accuracy log is truncated as the suite's script does it, and its hash goes
// into accuracy.txt. Layout: docs/guide/inference_submission.md.
//
//     division: closed
//     submitter: Me
//     src: code/
//     systems:
//       box:
//         description: system.json       # or its fields
//         results:
//           resnet:
//             Offline:
//               performance: logs/offline
//               accuracy: logs/offline-accuracy   # with accuracy.txt
//               measurements: {input_data_types: int8, …}   # or a JSON file
//               user_conf: user.conf
//               readme: README.md
//               tests: {TEST04: {verdict: audit/TEST04, logs: logs/audit04}}
//
// A folder of logs may be the folder of a run (assay run --scenario), which has them in
// performance/ and accuracy/. Paths are those of the plan's folder. Nothing is judged here; `assay
// check` does that. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::interchange {

struct PackedInference {
  std::size_t systems = 0;
  std::size_t results = 0;
  std::vector<std::string> notes{};  // what the plan leaves open
};

// `out` must not exist; it appears whole or not at all. Fails where the plan names what is not
// there, with the plan's line.
Result<PackedInference> pack_inference(const std::filesystem::path& plan,
                                       const std::filesystem::path& out);

// The text of an accuracy log in a submission: whole up to 10,240 bytes, else its first and its
// last 4,096.
std::string truncated_accuracy_log(const std::string& whole);

}  // namespace assay::interchange
