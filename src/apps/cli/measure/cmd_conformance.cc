#include <utility>

#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "conformance/course.h"

namespace assay::cli {
namespace {

void add_flags(Flags& flags, conformance::ConformanceOptions& typed) {
  flags.add("PEER", &typed.peers,
            "a peer's name, or NAME=PROGRAM where it lies elsewhere than in PATH (default: every "
            "one that is found)");
  flags.add("--streams=LIST", &typed.streams,
            "streams at once; several, with commas, one after another");
  flags.add("--rounds=N", &typed.rounds, "requests of each stream");
  flags.add("--repeat=N", &typed.repeat,
            "measure a job that other programs disturbed again, up to N times in all");
  flags.add("--ttft=DELAY", &typed.settings.ttft, "the endpoint's time to the first token");
  flags.add("--itl=DELAY", &typed.settings.itl, "its time between tokens");
  flags.add("--tokens=N", &typed.tokens, "tokens in a reply");
  flags.add("--limit=TIME", &typed.settings.limit, "end a peer that is not done by then");
  flags.add("--report-dir=DIR", &typed.folder,
            "keep what the peers wrote, the truth and the result");
  flags.add("--html=FILE", &typed.html, "write the page to FILE");
  flags.add("--from=FILE", &typed.from, "make the page of a conformance.json, and measure nothing");
  flags.add("--list", &typed.list, "print the peers that Assay can drive, and which are found");
  flags.add("--table", &typed.table, "print the result as a table in markdown");
  flags.add("--json,-j", &typed.json, "print the result as JSON");
  flags.add("--quiet", &typed.quiet, "no talk while it measures");
  flags.example("assay conformance --list");
  flags.example("assay conformance --streams 1,16,256 --report-dir conformance");
  flags.example("assay conformance --from conformance/conformance.json --html conformance.html");
  flags.example("assay conformance assay aiperf=venv/bin/aiperf --streams 16");
}

}  // namespace

Result<int> cmd_conformance(Args args) {
  conformance::ConformanceOptions typed;
  Flags flags("conformance", "other load generators against an endpoint whose truth is known");
  add_flags(flags, typed);
  PARSE_OR_RETURN(flags, args);
  return conformance::run_conformance(std::move(typed), console());
}

}  // namespace assay::cli
