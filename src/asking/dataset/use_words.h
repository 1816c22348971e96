// A use of data as a person types it, for the policies of Croissant files (use_policy.h): `assay
// dataset --check` answers with it, and a run asks before it sends.
#pragma once

#include <string>

#include "base/result.h"
#include "dataset/use_policy.h"

namespace assay::dataset {

struct UseWords {
  std::string purpose{};
  std::string commercial{};
  std::string nonprofit{};
  std::string methods{};
  std::string region{};
  std::string disease{};
  std::string ontology{};

  bool given() const;
  Result<croissant::DataUse> use() const;
};

}  // namespace assay::dataset
