// What the review board's parties do and see, at the store's own machine. `assay review WHAT [ID]`
// is the command. A user who can open the store's file or database can write it anyway, so the role
// is a claim here; over the network a token proves it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "rules/calendar.h"

namespace assay::explorer {

struct ReviewAsked {
  std::string what{};
  std::string id{};
  std::string store{};
  std::string role{};
  std::string organisation{};
  std::string name{};
  std::string text{};
  std::string objection{};
  std::string objection_kind{};
  std::string clause{};
  std::string point{};
  std::string rule{};
  std::string severity{};
  std::string date{};
  std::string mode{};
  std::string division{};
  std::string holidays_file{};
  std::string head{};
  rules::Holidays holidays{};
  bool upheld = false;
  bool json = false;
};

// Does o.what. Returns the exit code.
Result<int> act_on_reviews(ReviewAsked o, const Talk& talk);

}  // namespace assay::explorer
