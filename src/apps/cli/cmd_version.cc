#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace assay::cli {

Result<int> cmd_version(Args args) {
  bool json = false;
  Flags flags("version", "what this program is and how it was built");
  flags.add("--json", &json, "print it as JSON");
  PARSE_OR_RETURN(flags, args);
  if (json) {
    Json out;
    out.set("version", version()).set("compiler", compiler()).set("build", build_type());
    print(out.dump(2) + "\n");
  } else {
    print(format("assay {}\n{}, {} build\n", version(), compiler(), build_type()));
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
