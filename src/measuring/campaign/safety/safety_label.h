// The label of a safety run (safety/label.h) in its folder, and its check: derived again from the
// run's records, drawn again, and its signature verified. One thread.
//
//   label/label.json  label/label.sig  label/label.svg  label/label.html
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/safety/safety_run.h"

namespace assay::campaign {

struct LabelWish {
  std::string version{};          // of the subject
  std::string expires{};          // YYYY-MM-DD; "": none
  std::string clauses = "iso";    // or a FILE.yaml, whose text is kept beside the label
  std::string private_key_pem{};  // "": not signed
};

// Writes the four files. Fails without an overall grade, and where the run's files are not what its
// records give.
Result<Json> write_label(const SafetyWish& wish, const LabelWish& how);
bool holds_label(const std::filesystem::path& folder);
// Differences; empty: none. With `trusted_pem` the label must be signed by that public key.
Result<std::vector<std::string>> check_label(const SafetyWish& wish,
                                             const std::string& trusted_pem);

}  // namespace assay::campaign
