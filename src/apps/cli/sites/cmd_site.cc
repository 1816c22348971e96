#include <signal.h>

#include <ctime>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/signature.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "site/agent.h"
#include "store/open_store.h"

namespace assay::cli {
namespace {

struct SiteFlags {
  std::string what{};
  std::string id{};
  std::string policy = "site.yaml";
  std::string sha256{};
  Duration interval = 30_s;
  bool once = false;
  bool send = false;
  bool json = false;
};

void add_site_flags(Flags& flags, SiteFlags& o) {
  flags.add("WHAT", &o.what, "agent, register, list, review, release or withhold")
      .choices({"agent", "register", "list", "review", "release", "withhold"})
      .required();
  flags.add("ID", &o.id, "the run; of register, the dataset");
  flags.add("--policy", &o.policy, "the site's own file").value("FILE");
  flags.add("--json", &o.json, "print the result as JSON");
  flags.add("--once", &o.once, "of agent: one turn, then end");
  flags.add("--interval", &o.interval, "of agent: between two turns").value("TIME");
  flags.add("--send", &o.send, "of register: send what is shown");
  flags.add("--sha256", &o.sha256, "of release: the digest that the review showed").value("HEX");
  flags.example("assay site register hospital-a --send");
  flags.example("assay site agent");
  flags.example("assay site review run-1");
  flags.example("assay site release run-1 --sha256 9f86d081…");
}

// Returns false when a signal ends the program.
bool wait_for_signal(const sigset_t& ends, Duration time) {
  timespec limit{.tv_sec = time.ns / 1'000'000'000, .tv_nsec = time.ns % 1'000'000'000};
  return sigtimedwait(&ends, nullptr, &limit) < 0;
}

Result<int> run_agent(const SiteFlags& o, const site::Policy& policy, site::Journal& journal) {
  const sigset_t ends = block_ending_signals();
  const OsClock clock;
  ASSIGN_OR_RETURN(const auto link, site::HubLink::open(policy.hub, clock));
  std::error_code fault;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", fault);
  if (fault) return Error{Code::io, "where this program is cannot be read from /proc/self/exe"};
  ASSIGN_OR_RETURN(auto agent, site::Agent::open(policy, journal, link, program,
                                                 [](const std::string& line) { say(line); }));
  for (;;) {
    const auto turn = agent.turn();
    if (!turn && (o.once || turn.error().code == Code::corrupt)) return turn.error();
    // The hub, or the way to it, may be back at the next turn.
    if (!turn) say(error_text(turn.error()));
    if (turn && o.json) {
      print(Json::object()
                .set("refused", turn->refused)
                .set("measured", turn->measured)
                .set("failed", turn->failed)
                .set("sent", turn->sent)
                .dump() +
            "\n");
    }
    if (o.once || !wait_for_signal(ends, o.interval)) return exit_code(ExitCode::done);
  }
}

Result<site::LocalRun> need_run(const site::Journal& journal, const std::string& id) {
  ASSIGN_OR_RETURN(auto run, journal.run(id));
  if (!run) return Error{Code::not_found, format("this site has no run '{}'", id)};
  return std::move(*run);
}

Result<int> review(const SiteFlags& o, const site::Policy& policy, site::Journal& journal) {
  ASSIGN_OR_RETURN(site::LocalRun run, need_run(journal, o.id));
  // A second look shows the bytes of the first.
  if (run.state != sites::RunState::held && run.document.empty()) {
    return Error{Code::refused,
                 format("the run is {}: there is nothing to review", to_string(run.state))};
  }
  if (run.state == sites::RunState::held) {
    const sites::Candidate candidate = site::candidate_of(policy, run);
    for (const std::string& line : candidate.kept_back) say("stays here: " + line);
    run.document = sites::to_text(candidate.document);
    TRY(journal.review(run.id, run.document, rfc3339(wall_now())));
  }
  const std::string digest = sha256_hex(run.document);
  if (o.json) {
    print(Json::object().set("document", run.document).set("sha256", digest).dump() + "\n");
    return exit_code(ExitCode::done);
  }
  print(run.document);
  say(
      format("these {} bytes would leave, and their signature; if they may:\n"
             "  assay site release {} --sha256 {}\n  else: assay site withhold {}",
             run.document.size(), run.id, digest, run.id));
  return exit_code(ExitCode::done);
}

Result<int> release(const SiteFlags& o, const site::Policy& policy, site::Journal& journal) {
  ASSIGN_OR_RETURN(const site::LocalRun run, need_run(journal, o.id));
  if (run.state != sites::RunState::reviewed) {
    return Error{Code::refused, format("the run is {}, not reviewed\n  assay site review {}",
                                       to_string(run.state), run.id)};
  }
  if (o.sha256 != sha256_hex(run.document)) {
    return invalid(
        format("--sha256: is not of the bytes that were shown\n  assay site review {}", run.id));
  }
  ASSIGN_OR_RETURN(const std::string key, read_file(policy.key, 1U << 16));
  ASSIGN_OR_RETURN(const std::string signature, sign_ed25519(run.document, key));
  TRY(journal.release(run.id, signature, rfc3339(wall_now())));
  print(o.json ? Json::object().set("run", run.id).set("signature", signature).dump() + "\n"
               : format("run {}: signed; the agent sends it at its next turn\n", run.id));
  return exit_code(ExitCode::done);
}

Result<int> withhold(const SiteFlags& o, site::Journal& journal) {
  TRY(need_run(journal, o.id));
  TRY(journal.withhold(o.id, rfc3339(wall_now())));
  print(o.json ? Json::object().set("run", o.id).set("state", "withheld").dump() + "\n"
               : format("run {}: its result stays here\n", o.id));
  return exit_code(ExitCode::done);
}

Result<int> list_runs(const SiteFlags& o, const site::Journal& journal) {
  ASSIGN_OR_RETURN(const auto runs, journal.runs());
  Json all = Json::array();
  for (const site::LocalRun& run : runs) {
    if (!o.json) {
      print(format("{}  {}  {} on {} for {}\n", run.id, to_string(run.state), run.model,
                   run.dataset, run.benchmark));
    }
    all.push_back(Json::object()
                      .set("id", run.id)
                      .set("state", to_string(run.state))
                      .set("benchmark", run.benchmark)
                      .set("dataset", run.dataset)
                      .set("model", run.model));
  }
  if (o.json) print(all.dump(2) + "\n");
  if (!o.json && runs.empty()) say("no runs yet; assay site agent takes orders");
  return exit_code(ExitCode::done);
}

Result<int> register_dataset(const SiteFlags& o, const site::Policy& policy) {
  ASSIGN_OR_RETURN(const sites::Act act, site::dataset_act(policy, o.id));
  print(sites::to_json(act).dump(o.json ? -1 : 2) + "\n");
  if (!o.send) {
    say("this is what would leave; to send it: --send");
    return exit_code(ExitCode::done);
  }
  const OsClock clock;
  ASSIGN_OR_RETURN(const auto link, site::HubLink::open(policy.hub, clock));
  TRY(link.send(act));
  say("sent and accepted");
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_site(Args args) {
  SiteFlags o;
  Flags flags("site", "evaluation where the data live: an agent, its policy, its releases");
  add_site_flags(flags, o);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  const bool has_id = o.what != "agent" && o.what != "list";
  if (has_id == o.id.empty()) {
    return invalid(has_id ? format("{}: which one?", o.what) : format("{}: takes no id", o.what));
  }
  ASSIGN_OR_RETURN(const site::Policy policy, site::load_policy(o.policy));
  ASSIGN_OR_RETURN(const auto store, store::open_store(policy.store.string()));
  site::Journal journal(*store);
  if (o.what == "agent") return run_agent(o, policy, journal);
  if (o.what == "register") return register_dataset(o, policy);
  if (o.what == "list") return list_runs(o, journal);
  if (o.what == "review") return review(o, policy, journal);
  if (o.what == "release") return release(o, policy, journal);
  return withhold(o, journal);
}

}  // namespace assay::cli
