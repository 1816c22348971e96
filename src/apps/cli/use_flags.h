// The flags that state a use of data, for the policies of Croissant files (dataset/use_policy.h):
// `assay dataset --check` answers with them, and a run asks before it sends.
#pragma once

#include <optional>
#include <string>

#include "base/flags.h"
#include "base/result.h"
#include "dataset/use_policy.h"
#include "plan/config_reader.h"

namespace assay::cli {

struct UseFlags {
  std::string purpose{};
  std::string commercial{};
  std::string nonprofit{};
  std::string methods{};
  std::string region{};
  std::string disease{};
  std::string ontology{};

  bool given() const;
  Result<dataset::croissant::DataUse> use() const;
};

// `use` must outlive flags.parse().
void add_use_flags(Flags& flags, UseFlags& use);

// Refuses a config with a dataset whose policy denies the use; what a policy leaves open becomes a
// note.
Result<void> ask_policies(const UseFlags& use, plan::LoadedConfig& loaded);

}  // namespace assay::cli
