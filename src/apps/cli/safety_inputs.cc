#include "cli/safety_inputs.h"

#include "base/files.h"
#include "base/format.h"

namespace assay::cli {

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

Flag& add_seal_key(Flags& flags, SafetyInputs& inputs, std::string_view of) {
  return flags.add("--seal-key", &inputs.seal_key, of).value("FILE");
}

void add_people(Flags& flags, SafetyInputs& inputs, std::string_view command) {
  flags
      .add("--labels", &inputs.labels,
           format("{}: what people say of the replies, JSON lines with uid and safe, and perhaps "
                  "rater and group",
                  command))
      .value("FILE");
}

Flag& add_json(Flags& flags, SafetyInputs& inputs) {
  return flags.add("--json", &inputs.json, "print the result as JSON");
}

}  // namespace assay::cli
