#include <signal.h>

#include <cstdio>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/ending_signals.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "site/agent.h"
#include "site/release_acts.h"
#include "site/site_page.h"
#include "store/open_store.h"

namespace assay::cli {
namespace {

struct SiteFlags {
  site::ReleaseAsked act{};
  std::string policy = "site.yaml";
  Duration interval = 30_s;
  std::uint64_t port = 8644;
  bool once = false;
};

void add_site_flags(Flags& flags, SiteFlags& o) {
  flags.add("WHAT", &o.act.what, "agent, serve, register, list, review, release or withhold")
      .choices({"agent", "serve", "register", "list", "review", "release", "withhold"})
      .required();
  flags.add("ID", &o.act.id, "the run; of register, the dataset");
  flags.add("--policy=FILE", &o.policy, "the site's own file");
  flags.add("--json", &o.act.json, "print the result as JSON");
  flags.add("--once", &o.once, "of agent: one turn, then end");
  flags.add("--interval=TIME", &o.interval, "of agent: between two turns");
  flags.add("--send", &o.act.send, "of register: send what is shown");
  flags.add("--sha256=HEX", &o.act.sha256, "of release: the digest that the review showed");
  flags.add("--port=PORT", &o.port, "of serve, the page on this machine; 0 takes any that is free");
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
    if (turn && o.act.json) {
      print(Json::object()
                .set("refused", turn->refused)
                .set("measured", turn->measured)
                .set("failed", turn->failed)
                .set("sent", turn->sent)
                .dump() +
            "\n");
    }
    if (turn && o.once && turn->refused + turn->measured + turn->failed + turn->sent == 0) {
      say("nothing to do: no order is open, and the hub has what was released");
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
  print(o.act.json ? Json::object().set("url", page.url()).dump() + "\n" : page.url() + "\n");
  std::fflush(stdout);
  std::thread server([&page] { page.run(); });
  int signal = 0;
  sigwait(&ends, &signal);
  page.stop();
  server.join();
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_site(Args args) {
  SiteFlags o;
  Flags flags("site", "evaluation where the data live: an agent, its policy, its releases");
  add_site_flags(flags, o);
  PARSE_OR_RETURN(flags, args);
  const bool has_id = o.act.what != "agent" && o.act.what != "serve" && o.act.what != "list";
  if (has_id == o.act.id.empty()) {
    return invalid(has_id ? format("{}: which one?", o.act.what)
                          : format("{}: takes no id", o.act.what));
  }
  ASSIGN_OR_RETURN(const site::Policy policy, site::load_policy(o.policy));
  ASSIGN_OR_RETURN(const auto store, store::open_store(policy.store.string()));
  site::Journal journal(*store);
  if (o.act.what == "agent") return run_agent(o, policy, journal);
  if (o.act.what == "serve") return serve_site(o, policy);
  return site::act_on_releases(o.act, policy, journal, console());
}

}  // namespace assay::cli
