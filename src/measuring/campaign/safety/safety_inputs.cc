#include "campaign/safety/safety_inputs.h"

#include "base/files.h"

namespace assay::campaign {

Result<std::optional<SealKey>> SafetyInputs::key() const {
  std::optional<SealKey> out;
  if (seal_key.empty()) return out;
  auto read = read_seal_key(seal_key);
  if (!read) return read.error().within("--seal-key");
  out = *std::move(read);
  return out;
}

Result<std::vector<safety::Label>> SafetyInputs::people() const {
  if (labels.empty()) return std::vector<safety::Label>();
  ASSIGN_OR_RETURN(const std::string text, read_file(labels));
  auto read = safety::labels_from(text);
  if (!read) return read.error().within(labels);
  return *std::move(read);
}

}  // namespace assay::campaign
