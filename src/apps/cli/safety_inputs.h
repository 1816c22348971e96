// Flags that the commands about safety share: the key of sealed prompts, what people say of
// replies, JSON. One row each, whichever command has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/aead.h"
#include "base/flags.h"
#include "base/result.h"
#include "safety/agreement.h"

namespace assay::cli {

struct SafetyInputs {
  std::string seal_key{};
  std::string labels{};
  bool json = false;

  // None where the flag was not given.
  Result<std::optional<SealKey>> key() const;
  Result<std::vector<safety::Label>> people() const;
};

// `inputs` must outlive flags.parse(). `of`: what the key opens.
Flag& add_seal_key(Flags& flags, SafetyInputs& inputs,
                   std::string_view of = "the key of a sealed set, and of runs over it");
void add_people(Flags& flags, SafetyInputs& inputs, std::string_view command);
Flag& add_json(Flags& flags, SafetyInputs& inputs);

}  // namespace assay::cli
