// What commands about safety read beside their folders: the key of sealed prompts, and what people
// say of replies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/aead.h"
#include "base/result.h"
#include "safety/agreement.h"

namespace assay::campaign {

struct SafetyInputs {
  std::string seal_key{};
  std::string labels{};
  bool json = false;

  // None where the flag was not given.
  Result<std::optional<SealKey>> key() const;
  Result<std::vector<safety::Label>> people() const;
};

}  // namespace assay::campaign
