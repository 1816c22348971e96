#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/latency_profile.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "host/readiness.h"
#include "net/receive.h"

namespace assay::cli {
namespace {

// What only this process can ask for itself.
host::MachineFacts machine_facts() {
  host::MachineFacts facts = host::read_machine("/");
  facts.cores = static_cast<int>(usable_cores().size());
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) facts.open_files = files.rlim_max;
  std::error_code error;
  const auto space = std::filesystem::space(".", error);
  if (!error) facts.disk_bytes = space.available;
  const net::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  facts.receive_stamps = socket.get() >= 0 && net::enable_receive_stamps(socket);
  const LatencyProfile profile(LatencyWishes{.descriptors = false});
  facts.settings = profile.settings();
  facts.settings.push_back(ask_short_slice());
  return facts;
}

}  // namespace

Result<int> cmd_doctor(Args args) {
  bool json = false;
  Flags flags("doctor", "what this machine grants and lacks for measuring, and how to mend it");
  flags.add("--json", &json, "print the findings as JSON");
  flags.example("assay doctor");
  PARSE_OR_RETURN(flags, args);
  const auto list = host::judge_machine(machine_facts());
  const auto lacks = std::ranges::count(list, host::Ready::missing, &host::Readiness::ready);
  const auto weak = std::ranges::count(list, host::Ready::weak, &host::Readiness::ready);
  if (json) {
    print(Json()
              .set("weak", weak)
              .set("missing", lacks)
              .set("findings", readiness_json(list))
              .dump(2) +
          "\n");
  } else {
    print(readiness_text(list));
    print(
        format("\n  {} weak, {} missing. How far this machine can be trusted in figures: assay "
               "calibrate\n",
               weak, lacks));
  }
  return exit_code(lacks > 0 ? ExitCode::findings : ExitCode::done);
}

}  // namespace assay::cli
