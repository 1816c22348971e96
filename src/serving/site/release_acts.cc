#include "site/release_acts.h"

#include <signal.h>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "site/agent.h"
#include "site/desk.h"

namespace assay::site {
namespace {

Result<int> review(const ReleaseAsked& o, const Policy& policy, Journal& journal,
                   const Talk& talk) {
  ASSIGN_OR_RETURN(const Shown shown, review_run(policy, journal, o.id, rfc3339(wall_now())));
  if (o.json) {
    talk.print(Json::object().set("document", shown.document).set("sha256", shown.sha256).dump() +
               "\n");
    return exit_code(ExitCode::done);
  }
  for (const std::string& line : shown.kept_back) talk.say("stays here: " + line);
  talk.print(shown.document);
  talk.say(
      format("these {} bytes would leave, and their signature; if they may:\n"
             "  assay site release {} --sha256 {}\n  else: assay site withhold {}",
             shown.document.size(), o.id, shown.sha256, o.id));
  return exit_code(ExitCode::done);
}

Result<int> release(const ReleaseAsked& o, const Policy& policy, Journal& journal,
                    const Talk& talk) {
  ASSIGN_OR_RETURN(const std::string signature,
                   release_run(policy, journal, o.id, o.sha256, rfc3339(wall_now())));
  talk.print(o.json ? Json::object().set("run", o.id).set("signature", signature).dump() + "\n"
                    : format("run {}: signed; the agent sends it at its next turn\n", o.id));
  return exit_code(ExitCode::done);
}

Result<int> withhold(const ReleaseAsked& o, Journal& journal, const Talk& talk) {
  TRY(withhold_run(journal, o.id, rfc3339(wall_now())));
  talk.print(o.json ? Json::object().set("run", o.id).set("state", "withheld").dump() + "\n"
                    : format("run {}: its result stays here\n", o.id));
  return exit_code(ExitCode::done);
}

Result<int> list_runs(const ReleaseAsked& o, const Journal& journal, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto runs, journal.runs());
  if (o.json) {
    talk.print(runs_json(runs).dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  for (const LocalRun& run : runs) {
    talk.print(format("{}  {}  {} on {} for {}\n", run.id, to_string(run.state), run.model,
                      run.dataset, run.benchmark));
  }
  if (runs.empty()) talk.say("no runs yet; assay site agent takes orders");
  return exit_code(ExitCode::done);
}

Result<int> register_dataset(const ReleaseAsked& o, const Policy& policy, const Talk& talk) {
  ASSIGN_OR_RETURN(const sites::Act act, dataset_act(policy, o.id));
  talk.print(sites::to_json(act).dump(o.json ? -1 : 2) + "\n");
  if (!o.send) {
    talk.say("this is what would leave; to send it: --send");
    return exit_code(ExitCode::done);
  }
  const OsClock clock;
  ASSIGN_OR_RETURN(const auto link, HubLink::open(policy.hub, clock));
  TRY(link.send(act));
  talk.say("sent and accepted");
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> act_on_releases(const ReleaseAsked& o, const Policy& policy, Journal& journal,
                            const Talk& talk) {
  if (o.what == "register") return register_dataset(o, policy, talk);
  if (o.what == "list") return list_runs(o, journal, talk);
  if (o.what == "review") return review(o, policy, journal, talk);
  if (o.what == "release") return release(o, policy, journal, talk);
  return withhold(o, journal, talk);
}

}  // namespace assay::site
