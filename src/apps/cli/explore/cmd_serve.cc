#include <signal.h>

#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "base/ending_signals.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/json.h"
#include "campaign/safety/safety_sides.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/shared_flags.h"
#include "cli/store_flags.h"
#include "explorer/board.h"
#include "explorer/explorer.h"
#include "explorer/head.h"
#include "explorer/import_course.h"
#include "explorer/page.h"
#include "explorer/passing_store.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct ServeOptions {
  std::vector<std::string> paths{};
  std::string store{};
  std::string host = "127.0.0.1";
  std::uint64_t port = 8642;
  bool no_token = false;
  bool writable = false;
  bool json = false;
  std::string holidays{};
  std::string head{};
  explorer::ImportOptions import{};
  campaign::SafetyInputs safety{};
};

void say_where(const explorer::Explorer& server, bool json) {
  if (json) {
    print(Json().set("url", server.url()).set("token", server.token()).dump() + "\n");
  } else {
    print(server.url() + "\n");
  }
  std::fflush(stdout);
  if (explorer::page_file("explorer.js") == nullptr) {
    say("note: built without npm, so there is no page; the API answers under " + server.api_url() +
        "\n  to have the page: install npm, build again");
  } else {
    say("assay serve: open the address in a browser; Ctrl-C ends it");
  }
}

}  // namespace

Result<int> cmd_serve(Args args) {
  ServeOptions o;
  Flags flags("serve", "the explorer: curves, runs and reviews as a page and as an API");
  flags.add("PATH", &o.paths, "show these results, and runs that go on below them");
  flags.add("--store=STORE", &o.store,
            "a file, or postgresql://…; else ~/.local/share/assay/store.db");
  flags.add("--host=HOST", &o.host, "listen here; 0.0.0.0 for the whole network");
  flags.add("--port=PORT", &o.port, "0 takes any that is free");
  flags.add("--no-token", &o.no_token, "let everybody who reaches the port read");
  flags.add("--writable", &o.writable, "let personal tokens write to the review board");
  flags.add("--json", &o.json, "print the address as JSON");
  flags.add("--holidays=FILE", &o.holidays,
            "dates that the review board's business days leave out");
  flags.add("--head=FILE", &o.head,
            "keep the head of the review board's history here (STORE.head)");
  add_import_flags(flags, o.import);
  add_seal_key(flags, o.safety,
               "of safety runs over sealed prompts, to compare them: the key of the set");
  flags.example("assay serve runs/");
  PARSE_OR_RETURN(flags, args);
  if (o.port > 65535) return invalid("--port: at most 65535");
  TRY(explorer::check_import(o.import));
  ASSIGN_OR_RETURN(const auto key, o.safety.key());

  // Blocked before any thread starts, so that only sigwait() below gets them.
  const sigset_t ends = block_ending_signals();

  const WallTime began = wall_now();
  ASSIGN_OR_RETURN(const rules::Holidays holidays, explorer::read_holidays(o.holidays));
  explorer::PassingStore passing;
  if (!o.paths.empty() && o.store.empty()) {
    o.store = passing.make();
  } else if (o.head.empty()) {
    o.head = explorer::default_head_file(o.store);
  }
  TRY(explorer::import_paths(o.paths, o.import, o.store, console()));
  explorer::ExplorerOptions options{.store = o.store,
                                    .host = o.host,
                                    .port = static_cast<std::uint16_t>(o.port),
                                    .token = !o.no_token,
                                    .writable = o.writable,
                                    .import = o.import,
                                    .watched_since = began,
                                    .holidays = holidays,
                                    .head = o.head,
                                    .pairs = [key](const auto& a, const auto& b, auto margin) {
                                      return campaign::compare_safety_folders(a, b, key, margin);
                                    }};
  for (const std::string& path : o.paths) {
    if (fs::is_directory(path)) options.watched.push_back(fs::absolute(path).lexically_normal());
  }
  const auto opened = explorer::Explorer::open(options);
  if (!opened) return with_free_port(opened.error());
  const auto& server = *opened;
  server->start();
  say_where(*server, o.json);
  int signal = 0;
  sigwait(&ends, &signal);
  server->stop();
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
