// A point's declarations about seeds and speculative decoding, looked up in the edition's lists.
#pragma once

#include "rules/rule.h"

namespace assay::rules {

// Returns nullptr when the point names none, or one that the list lacks.
const rulebook::SeedSet* seed_set_of(const Scope& at);

struct Speculation {
  std::string pointer{};                        // "" when the point uses none
  const rulebook::Drafter* approved = nullptr;  // the list's entry with the same checksum
};
Speculation speculation_of(const Scope& at);

}  // namespace assay::rules
