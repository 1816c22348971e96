// Board: the review board of a Store: submissions are read from its histories, acts are appended.
// The rules are rules/review.h's; here they meet the store, the curves and the clock. Used by the
// API and by `assay review`. `holidays` is the calendar's: two who give others see other due dates.
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

// The dates of a file (rules/calendar.h); none where the name is "".
Result<rules::Holidays> read_holidays(const std::filesystem::path& path);

// Schema SubmissionList, without histories.
Result<std::string> submissions_document(store::Store& store, const BoardQuery& query,
                                         const rules::Actor& actor,
                                         const rules::Holidays& holidays);
// Schema Submission; nothing where there is none.
Result<std::optional<std::string>> submission_document(store::Store& store, std::string_view id,
                                                       const rules::Actor& actor,
                                                       const rules::Holidays& holidays);

// Append; they give the submission as it then is. Code::refused: not this actor, or not now.
// Code::timed_out: others were faster every time.
// `head`: the file of the history's head (explorer/head.h), "" for none; Code::corrupt where
// the history does not go on from it.
Result<std::string> submit(store::Store& store, const Json& told, const rules::Actor& actor,
                           const rules::Holidays& holidays, const std::filesystem::path& head);
Result<std::string> act(store::Store& store, std::string_view id, const Json& told,
                        const rules::Actor& actor, const rules::Holidays& holidays,
                        const std::filesystem::path& head);

}  // namespace assay::explorer
