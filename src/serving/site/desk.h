// Desk: what a person at the site does with a held result: look at the bytes that would leave,
// release them, or keep them. The command line and the site's page use it. For the thread of the
// Journal's Store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/journal.h"
#include "site/policy.h"

namespace assay::site {

struct Shown {
  std::string document{};  // these bytes would leave
  std::string sha256{};    // of them
  std::vector<std::string> kept_back{};
};

// The first look writes the bytes into the journal; a later one shows the same.
Result<Shown> review_run(const Policy& policy, Journal& journal, std::string_view id,
                         const std::string& at);
// Signs the bytes that were shown; returns the signature. Code::invalid unless `sha256` is of them.
Result<std::string> release_run(const Policy& policy, Journal& journal, std::string_view id,
                                std::string_view sha256, const std::string& at);
Result<void> withhold_run(Journal& journal, std::string_view id, const std::string& at);

// [{id, state, benchmark, dataset, model}], and `document` with `sha256` from the review on.
Json runs_json(const std::vector<LocalRun>& runs);

}  // namespace assay::site
