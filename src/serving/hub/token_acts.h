// The tokens of a hub's parties made and ended, and its history verified: what the hub's holder
// does beside serving. `assay hub` is the command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"

namespace assay::hub {

struct TokenAsked {
  std::string store{};
  std::string id{};  // of revoke: the token's first digits
  std::string role{};
  std::string organisation{};
  std::string name{};
  bool json = false;
};

// Each returns the exit code.
Result<int> make_hub_token(const TokenAsked& o, const Talk& talk);
Result<int> revoke_hub_token(const TokenAsked& o, const Talk& talk);
Result<int> verify_hub(const TokenAsked& o, const Talk& talk);

}  // namespace assay::hub
