// What a party of a federation asks of its hub: an act sent, or what it may see. `assay hub` is the
// command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"

namespace assay::site {

struct PartyAsked {
  std::string what{};  // show, or an act's kind
  std::string id{};
  std::string hub{};
  std::string token_file{};
  std::string ca_file{};
  std::string benchmark{};
  std::string dataset{};
  std::string model{};
  std::string description{};
  std::string measurement{};  // a file
  std::string key{};
  bool json = false;
};

// Returns the exit code.
Result<int> ask_hub(const PartyAsked& o, const Talk& talk);

}  // namespace assay::site
