#include <signal.h>

#include <cstdio>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "site/agent.h"
#include "site/desk.h"
#include "site/site_page.h"
#include "store/open_store.h"

namespace assay::cli {
namespace {

struct SiteFlags {
  std::string what{};
  std::string id{};
  std::string policy = "site.yaml";
  std::string sha256{};
  Duration interval = 30_s;
  std::uint64_t port = 8644;
  bool once = false;
  bool send = false;
  bool json = false;
};

void add_site_flags(Flags& flags, SiteFlags& o) {
  flags.add("WHAT", &o.what, "agent, serve, register, list, review, release or withhold")
      .choices({"agent", "serve", "register", "list", "review", "release", "withhold"})
      .required();
  flags.add("ID", &o.id, "the run; of register, the dataset");
  flags.add("--policy", &o.policy, "the site's own file").value("FILE");
  flags.add("--json", &o.json, "print the result as JSON");
  flags.add("--once", &o.once, "of agent: one turn, then end");
  flags.add("--interval", &o.interval, "of agent: between two turns").value("TIME");
  flags.add("--send", &o.send, "of register: send what is shown");
  flags.add("--sha256", &o.sha256, "of release: the digest that the review showed").value("HEX");
  flags.add("--port", &o.port, "of serve, the page on this machine; 0 takes any that is free")
      .value("PORT");
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

Result<int> serve_site(const SiteFlags& o, const site::Policy& policy) {
  if (o.port > 65535) return invalid("--port: at most 65535");
  const sigset_t ends = block_ending_signals();
  const auto opened = site::SitePage::open(policy, static_cast<std::uint16_t>(o.port));
  if (!opened) return with_free_port(opened.error());
  site::SitePage& page = **opened;
  print(o.json ? Json::object().set("url", page.url()).dump() + "\n" : page.url() + "\n");
  std::fflush(stdout);
  std::thread server([&page] { page.run(); });
  int signal = 0;
  sigwait(&ends, &signal);
  page.stop();
  server.join();
  return exit_code(ExitCode::done);
}

Result<int> review(const SiteFlags& o, const site::Policy& policy, site::Journal& journal) {
  ASSIGN_OR_RETURN(const site::Shown shown,
                   site::review_run(policy, journal, o.id, rfc3339(wall_now())));
  if (o.json) {
    print(Json::object().set("document", shown.document).set("sha256", shown.sha256).dump() + "\n");
    return exit_code(ExitCode::done);
  }
  for (const std::string& line : shown.kept_back) say("stays here: " + line);
  print(shown.document);
  say(
      format("these {} bytes would leave, and their signature; if they may:\n"
             "  assay site release {} --sha256 {}\n  else: assay site withhold {}",
             shown.document.size(), o.id, shown.sha256, o.id));
  return exit_code(ExitCode::done);
}

Result<int> release(const SiteFlags& o, const site::Policy& policy, site::Journal& journal) {
  ASSIGN_OR_RETURN(const std::string signature,
                   site::release_run(policy, journal, o.id, o.sha256, rfc3339(wall_now())));
  print(o.json ? Json::object().set("run", o.id).set("signature", signature).dump() + "\n"
               : format("run {}: signed; the agent sends it at its next turn\n", o.id));
  return exit_code(ExitCode::done);
}

Result<int> withhold(const SiteFlags& o, site::Journal& journal) {
  TRY(site::withhold_run(journal, o.id, rfc3339(wall_now())));
  print(o.json ? Json::object().set("run", o.id).set("state", "withheld").dump() + "\n"
               : format("run {}: its result stays here\n", o.id));
  return exit_code(ExitCode::done);
}

Result<int> list_runs(const SiteFlags& o, const site::Journal& journal) {
  ASSIGN_OR_RETURN(const auto runs, journal.runs());
  if (o.json) {
    print(site::runs_json(runs).dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  for (const site::LocalRun& run : runs) {
    print(format("{}  {}  {} on {} for {}\n", run.id, to_string(run.state), run.model, run.dataset,
                 run.benchmark));
  }
  if (runs.empty()) say("no runs yet; assay site agent takes orders");
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
  const bool has_id = o.what != "agent" && o.what != "serve" && o.what != "list";
  if (has_id == o.id.empty()) {
    return invalid(has_id ? format("{}: which one?", o.what) : format("{}: takes no id", o.what));
  }
  ASSIGN_OR_RETURN(const site::Policy policy, site::load_policy(o.policy));
  ASSIGN_OR_RETURN(const auto store, store::open_store(policy.store.string()));
  site::Journal journal(*store);
  if (o.what == "agent") return run_agent(o, policy, journal);
  if (o.what == "serve") return serve_site(o, policy);
  if (o.what == "register") return register_dataset(o, policy);
  if (o.what == "list") return list_runs(o, journal);
  if (o.what == "review") return review(o, policy, journal);
  if (o.what == "release") return release(o, policy, journal);
  return withhold(o, journal);
}

}  // namespace assay::cli
