#include <unistd.h>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "conformance/conformance.h"
#include "report/conformance_html.h"

namespace assay::cli {
namespace {

struct TypedConformance {
  std::vector<std::string> peers{};
  std::string streams = "1,16,256";
  std::uint64_t tokens = 64;
  std::uint64_t rounds = 4;
  std::uint64_t repeat = 1;
  std::string folder{};
  std::string html{};
  std::string from{};
  bool list = false;
  bool table = false;
  bool json = false;
  bool quiet = false;
  conformance::Settings settings{};
};

void add_flags(Flags& flags, TypedConformance& typed) {
  flags.add("PEER", &typed.peers,
            "a peer's name, or NAME=PROGRAM where it lies elsewhere than in PATH (default: every "
            "one that is found)");
  flags.add("--streams", &typed.streams, "streams at once; several, with commas, one after another")
      .value("LIST");
  flags.add("--rounds", &typed.rounds, "requests of each stream").value("N");
  flags
      .add("--repeat", &typed.repeat,
           "measure a job that other programs disturbed again, up to N times in all")
      .value("N");
  flags.add("--ttft", &typed.settings.ttft, "the endpoint's time to the first token")
      .value("DELAY");
  flags.add("--itl", &typed.settings.itl, "its time between tokens").value("DELAY");
  flags.add("--tokens", &typed.tokens, "tokens in a reply").value("N");
  flags.add("--limit", &typed.settings.limit, "end a peer that is not done by then").value("TIME");
  flags.add("--report-dir", &typed.folder, "keep what the peers wrote, the truth and the result")
      .value("DIR");
  flags.add("--html", &typed.html, "write the page to FILE").value("FILE");
  flags.add("--from", &typed.from, "make the page of a conformance.json, and measure nothing")
      .value("FILE");
  flags.add("--list", &typed.list, "print the peers that Assay can drive, and which are found");
  flags.add("--table", &typed.table, "print the result as a table in markdown");
  flags.add("--json,-j", &typed.json, "print the result as JSON");
  flags.add("--quiet", &typed.quiet, "no talk while it measures");
  flags.example("assay conformance --list");
  flags.example("assay conformance --streams 1,16,256 --report-dir conformance");
  flags.example("assay conformance --from conformance/conformance.json --html conformance.html");
  flags.example("assay conformance assay aiperf=venv/bin/aiperf --streams 16");
}

Result<std::vector<std::uint32_t>> levels(const std::string& list) {
  constexpr std::int64_t kStreamsMax = 100'000;
  std::vector<std::uint32_t> out;
  for (const std::string_view text : split(list, ',')) {
    const auto value = parse_int(trim(text));
    if (!value || *value < 1 || *value > kStreamsMax) {
      return invalid(format("--streams: '{}' must be from 1 to {}", text, kStreamsMax));
    }
    out.push_back(static_cast<std::uint32_t>(*value));
  }
  return out;
}

std::string names_of_peers() {
  std::string out;
  for (const conformance::Peer& peer : conformance::peers()) {
    out += (out.empty() ? "" : ", ") + std::string(peer.id);
  }
  return out;
}

// An empty path: not found.
std::filesystem::path program_of(const conformance::Peer& peer) {
  if (peer.program.empty()) return "/proc/self/exe";
  return conformance::find_program(peer.program);
}

Result<std::vector<conformance::Installed>> chosen(const std::vector<std::string>& named) {
  std::vector<conformance::Installed> out;
  if (named.empty()) {
    for (const conformance::Peer& peer : conformance::peers()) {
      const auto program = program_of(peer);
      if (!program.empty()) out.push_back({.peer = &peer, .program = program});
    }
    return out;
  }
  for (const std::string& text : named) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const conformance::Peer* const peer = conformance::find_peer(name);
    if (peer == nullptr) return invalid(format("{}: no peer; one of {}", name, names_of_peers()));
    const std::string where = equals == std::string::npos ? "" : text.substr(equals + 1);
    auto program = where.empty() ? program_of(*peer) : conformance::find_program(where);
    if (program.empty()) {
      return Error{Code::not_found,
                   format("{}: no program '{}'; pip install {}, or say {}=PROGRAM", name,
                          where.empty() ? std::string(peer->program) : where, peer->package, name)};
    }
    out.push_back({.peer = peer, .program = std::move(program)});
  }
  return out;
}

void print_list(bool json) {
  Json list = Json::array();
  std::string text;
  for (const conformance::Peer& peer : conformance::peers()) {
    const auto program = program_of(peer);
    list.push_back(Json()
                       .set("peer", peer.id)
                       .set("title", peer.title)
                       .set("package", peer.package)
                       .set("program", program.empty() ? Json() : Json(program.string())));
    text += format(
        "{:<10} {:<12} {}\n", peer.id, peer.title,
        program.empty() ? format("not found; pip install {}", peer.package) : program.string());
  }
  print(json ? list.dump(2) + "\n" : text);
}

Result<std::vector<conformance::Row>> measure(const TypedConformance& typed,
                                              std::vector<conformance::Installed> who) {
  for (conformance::Installed& one : who) {
    one.version = conformance::version_of(*one.peer, one.program, typed.settings.folder);
  }
  std::vector<conformance::Row> rows;
  for (const std::uint32_t streams : typed.settings.streams) {
    for (const conformance::Installed& one : who) {
      if (!typed.quiet) say(format("{} at {} streams …", one.peer->title, streams));
      ASSIGN_OR_RETURN(conformance::Row row, conformance::run_job(one, typed.settings, streams));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Result<void> write_page(const Json& result, const std::string& file) {
  ASSIGN_OR_RETURN(const std::string page, report::conformance_html(result));
  TRY(write_file_atomic(file, page));
  say("wrote " + file);
  return {};
}

Result<int> page_of_file(const TypedConformance& typed) {
  if (typed.html.empty()) return invalid("--from: makes a page; say where: --html FILE");
  ASSIGN_OR_RETURN(const Json result, read_json_file(typed.from));
  if (const auto page = write_page(result, typed.html); !page) {
    return Error{page.error().code, format("{}: {}", typed.from, page.error().message)};
  }
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_conformance(Args args) {
  TypedConformance typed;
  Flags flags("conformance", "other load generators against an endpoint whose truth is known");
  add_flags(flags, typed);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  if (typed.list) {
    print_list(typed.json);
    return exit_code(ExitCode::done);
  }
  if (!typed.from.empty()) return page_of_file(typed);
  constexpr std::uint64_t kTokensMax = 1'000'000;
  if (typed.tokens < 2 || typed.tokens > kTokensMax) return invalid("--tokens: must be 2 or more");
  if (typed.rounds < 1 || typed.rounds > kTokensMax) return invalid("--rounds: must be 1 or more");
  constexpr std::uint64_t kRepeatMax = 100;
  if (typed.repeat < 1 || typed.repeat > kRepeatMax) {
    return invalid(format("--repeat: must be from 1 to {}", kRepeatMax));
  }
  typed.settings.tries = static_cast<std::uint32_t>(typed.repeat);
  typed.settings.tokens = static_cast<std::uint32_t>(typed.tokens);
  typed.settings.rounds = static_cast<std::uint32_t>(typed.rounds);
  ASSIGN_OR_RETURN(typed.settings.streams, levels(typed.streams));
  ASSIGN_OR_RETURN(std::vector<conformance::Installed> who, chosen(typed.peers));
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::make("conformance"));
  typed.settings.folder =
      typed.folder.empty() ? scratch.path() : std::filesystem::path(typed.folder);
  TRY(make_folders(typed.settings.folder));
  ASSIGN_OR_RETURN(const auto rows, measure(typed, std::move(who)));
  const Json json = conformance::rows_json(typed.settings, rows);
  if (!typed.folder.empty()) {
    TRY(write_file_atomic(typed.settings.folder / "conformance.json", json.dump(2) + "\n"));
  }
  if (!typed.html.empty()) TRY(write_page(json, typed.html));
  print(typed.json    ? json.dump(2) + "\n"
        : typed.table ? conformance::rows_markdown(typed.settings, rows)
                      : conformance::rows_text(typed.settings, rows));
  for (const conformance::Row& row : rows) {
    if (!row.figures) return exit_code(ExitCode::findings);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
