#include <optional>
#include <string>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/safety/safety_label.h"
#include "campaign/safety/safety_levels.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/shared_flags.h"

namespace assay::cli {

Result<int> cmd_safety_label(Args args) {
  std::string folder;
  std::string key_file;
  campaign::SafetyInputs inputs;
  campaign::LabelWish how;
  Flags flags("safety label", "a safety run's grade as a label: SVG, HTML, and signed JSON");
  flags.add("PATH", &folder, "the folder of a safety run, which gets label/").required();
  flags.add("--key=FILE", &key_file, "sign it with this private key (assay key)");
  flags.add("--subject-version=TEXT", &how.version, "which version of the model was asked");
  flags.add("--expires=YYYY-MM-DD", &how.expires, "the day after which it says nothing any more");
  flags.add("--clauses=NAME", &how.clauses,
            "which clauses of which standards its evidence serves: iso, or a FILE.yaml");
  add_seal_key(flags, inputs);
  add_json(flags, inputs);
  flags.example("assay safety label runs/safety --key label.pem --expires 2027-05-31");
  PARSE_OR_RETURN(flags, args);
  ASSIGN_OR_RETURN(const std::optional<SealKey> key, inputs.key());
  ASSIGN_OR_RETURN(const auto levels, campaign::open_levels(folder));
  if (levels) return invalid(format("'{}' is a series; name one level's folder in it", folder));
  ASSIGN_OR_RETURN(const campaign::SafetyWish wish, campaign::open_safety(folder, key));
  if (!key_file.empty()) {
    ASSIGN_OR_RETURN(how.private_key_pem, read_file(key_file));
  }
  ASSIGN_OR_RETURN(const Json label, campaign::write_label(wish, how));
  if (inputs.json) {
    print(label.dump(2) + "\n");
  } else {
    print(format("{} ({}), {}\nfiles    {}/label/label.svg, .html, .json\n",
                 label["overall"]["grade"].as_string(), label["kind"].as_string(),
                 label["signer"].is_string() ? format("signed by {}", label["signer"].as_string())
                                             : std::string("not signed"),
                 folder));
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
