// Board: the review board of a Store: reads submissions from its histories, and appends acts. The
// rules are in rules/review.h; here they meet the store, the curves and the clock. The API and
// `assay review` use it. `holidays` belong to the calendar: other holidays give other due dates.
//
// One thread, the Store's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "rules/review.h"
#include "store/store.h"

namespace assay::explorer {

struct BoardQuery {
  std::string state{};
  std::string cohort{};
  std::string organisation{};
  std::size_t limit = 500;
  std::string after{};
};

// Reads the dates of a file (rules/calendar.h); none if the name is "".
Result<rules::Holidays> read_holidays(const std::filesystem::path& path);

// Schema SubmissionList, without histories.
Result<std::string> submissions_document(store::Store& store, const BoardQuery& query,
                                         const rules::Actor& actor,
                                         const rules::Holidays& holidays);
// Schema Submission; nullopt if there is none.
Result<std::optional<std::string>> submission_document(store::Store& store, std::string_view id,
                                                       const rules::Actor& actor,
                                                       const rules::Holidays& holidays);

// Append to the history and return the submission's new state. Code::refused: not allowed for this
// actor, or not now. Code::timed_out: other writers were faster at every retry.
// `head`: the file of the history's head (explorer/head.h), "" for none; Code::corrupt if the
// history does not continue from it.
Result<std::string> submit(store::Store& store, const Json& told, const rules::Actor& actor,
                           const rules::Holidays& holidays, const std::filesystem::path& head);
Result<std::string> act(store::Store& store, std::string_view id, const Json& told,
                        const rules::Actor& actor, const rules::Holidays& holidays,
                        const std::filesystem::path& head);

}  // namespace assay::explorer
