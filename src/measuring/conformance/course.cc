#include "conformance/course.h"

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/talk.h"
#include "base/text.h"
#include "conformance/conformance.h"
#include "report/conformance_html.h"

namespace assay::conformance {
namespace {

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
  for (const Peer& peer : peers()) {
    out += (out.empty() ? "" : ", ") + std::string(peer.id);
  }
  return out;
}

// An empty path: not found.
std::filesystem::path program_of(const Peer& peer) {
  if (peer.program.empty()) return "/proc/self/exe";
  return find_program(peer.program);
}

Result<std::vector<Installed>> chosen(const std::vector<std::string>& named) {
  std::vector<Installed> out;
  if (named.empty()) {
    for (const Peer& peer : peers()) {
      const auto program = program_of(peer);
      if (!program.empty()) out.push_back({.peer = &peer, .program = program});
    }
    return out;
  }
  for (const std::string& text : named) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const Peer* const peer = find_peer(name);
    if (peer == nullptr) return invalid(format("{}: no peer; one of {}", name, names_of_peers()));
    const std::string where = equals == std::string::npos ? "" : text.substr(equals + 1);
    auto program = where.empty() ? program_of(*peer) : find_program(where);
    if (program.empty()) {
      return Error{Code::not_found,
                   format("{}: no program '{}'; pip install {}, or say {}=PROGRAM", name,
                          where.empty() ? std::string(peer->program) : where, peer->package, name)};
    }
    out.push_back({.peer = peer, .program = std::move(program)});
  }
  return out;
}

void print_list(bool json, const Talk& talk) {
  Json list = Json::array();
  std::string text;
  for (const Peer& peer : peers()) {
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
  talk.print(json ? list.dump(2) + "\n" : text);
}

Result<std::vector<Row>> measure(const ConformanceOptions& typed, std::vector<Installed> who,
                                 const Talk& talk) {
  for (Installed& one : who) {
    one.version = version_of(*one.peer, one.program, typed.settings.folder);
  }
  std::vector<Row> rows;
  for (const std::uint32_t streams : typed.settings.streams) {
    for (const Installed& one : who) {
      if (!typed.quiet) talk.say(format("{} at {} streams …", one.peer->title, streams));
      ASSIGN_OR_RETURN(Row row, run_job(one, typed.settings, streams));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Result<void> write_page(const Json& result, const std::string& file, const Talk& talk) {
  ASSIGN_OR_RETURN(const std::string page, report::conformance_html(result));
  TRY(write_file_atomic(file, page));
  talk.say("wrote " + file);
  return {};
}

Result<int> page_of_file(const ConformanceOptions& typed, const Talk& talk) {
  if (typed.html.empty()) return invalid("--from: makes a page; say where: --html FILE");
  ASSIGN_OR_RETURN(const Json result, read_json_file(typed.from));
  if (const auto page = write_page(result, typed.html, talk); !page) {
    return Error{page.error().code, format("{}: {}", typed.from, page.error().message)};
  }
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> run_conformance(ConformanceOptions typed, const Talk& talk) {
  if (typed.list) {
    print_list(typed.json, talk);
    return exit_code(ExitCode::done);
  }
  if (!typed.from.empty()) return page_of_file(typed, talk);
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
  ASSIGN_OR_RETURN(std::vector<Installed> who, chosen(typed.peers));
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::make("conformance"));
  typed.settings.folder =
      typed.folder.empty() ? scratch.path() : std::filesystem::path(typed.folder);
  TRY(make_folders(typed.settings.folder));
  ASSIGN_OR_RETURN(const auto rows, measure(typed, std::move(who), talk));
  const Json json = rows_json(typed.settings, rows);
  if (!typed.folder.empty()) {
    TRY(write_file_atomic(typed.settings.folder / "conformance.json", json.dump(2) + "\n"));
  }
  if (!typed.html.empty()) TRY(write_page(json, typed.html, talk));
  talk.print(typed.json    ? json.dump(2) + "\n"
             : typed.table ? rows_markdown(typed.settings, rows)
                           : rows_text(typed.settings, rows));
  for (const Row& row : rows) {
    if (!row.figures) return exit_code(ExitCode::findings);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::conformance
