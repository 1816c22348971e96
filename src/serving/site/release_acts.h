// What a site's person does with its runs: lists, reviews, releases and withholds them, and
// registers a dataset. `assay site` is the command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "site/journal.h"
#include "site/policy.h"

namespace assay::site {

struct ReleaseAsked {
  std::string what{};  // register, list, review, release or withhold
  std::string id{};
  std::string sha256{};  // of release: the digest that the review showed
  bool send = false;     // of register
  bool json = false;
};

// Does o.what. Returns the exit code.
Result<int> act_on_releases(const ReleaseAsked& o, const Policy& policy, Journal& journal,
                            const Talk& talk);

}  // namespace assay::site
