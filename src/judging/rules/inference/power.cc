// A measurement of power: its files, its session, and what the analyzer read while the test ran.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

constexpr double kClockMaxS = 0.8;     // between the two machines' marks of one phase
constexpr double kDropMaxPercent = 5;  // of the tested run's power below the ranging run's
constexpr double kSummerTimeS = 3600;  // a clock that is an hour off passes
constexpr std::string_view kPtdVersion = "1.11.1";
struct Analyzer {
  std::string_view name{};
  std::int64_t number = 0;
};
constexpr std::array<Analyzer, 11> kAnalyzers{{{"YokogawaWT210", 8},
                                               {"YokogawaWT500", 35},
                                               {"YokogawaWT500_multichannel", 48},
                                               {"YokogawaWT310", 49},
                                               {"YokogawaWT310E", 49},
                                               {"YokogawaWT330", 52},
                                               {"YokogawaWT330E", 52},
                                               {"YokogawaWT330_multichannel", 77},
                                               {"YokogawaWT210_DC", 508},
                                               {"YokogawaWT310_DC", 549},
                                               {"YokogawaWT330_DC", 586}}};
constexpr std::int64_t kTwoChannels = 77;
// The published sources of the director and the client: file and SHA-1.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kSources{
    {{"__init__.py", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
     {"client.py", "33ca4f26368777ac06e01f9567b714a4b8063886"},
     {"lib/__init__.py", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
     {"lib/client.py", "ac2aa093c8e8bbc9569b9e2a3471bc64e58a2258"},
     {"lib/common.py", "611d8b29633d331eb19c9455ea3b5fa3284ed6df"},
     {"lib/external/__init__.py", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
     {"lib/external/ntplib.py", "4da8f970656505a40483206ef2b5d3dd5e81711d"},
     {"lib/server.py", "9bc9a3b6b9b716520658ac175913bcbbdb354336"},
     {"lib/source_hashes.py", "60a2e02193209e8d392803326208d5466342da18"},
     {"lib/summary.py", "602a9fedfa503e5544d27ab3b0067f235047efc3"},
     {"lib/time_sync.py", "80894ef2389e540781ff78de94db16aa4203a14e"},
     {"server.py", "c3f90f2f7eeb4db30727556d0c815ebc89b3d28b"},
     {"tests/unit/__init__.py", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
     {"tests/unit/test_server.py", "948c1995d4008bc2aa6c4046a34ffa3858d6d671"},
     {"tests/unit/test_source_hashes.py", "00468a2907583c593e6574a1f6b404e4651c221a"}}};

// "11-23-2026 10:00:00.123" of UTC as seconds since 1970; nothing for another form.
std::optional<double> seconds_of(std::string_view text) {
  const auto number = [&](std::size_t at, std::size_t size) -> std::optional<std::int64_t> {
    if (at + size > text.size()) return std::nullopt;
    const auto value = parse_int(text.substr(at, size));
    if (!value) return std::nullopt;
    return *value;
  };
  if (text.size() < 19 || text[2] != '-' || text[5] != '-' || text[13] != ':') return std::nullopt;
  const auto month = number(0, 2);
  const auto day = number(3, 2);
  const auto year = number(6, 4);
  const auto hour = number(11, 2);
  const auto minute = number(14, 2);
  const auto second = parse_double(text.substr(17));
  if (!month || !day || !year || !hour || !minute || !second) return std::nullopt;
  // Days of the civil calendar, years beginning in March; 1970-01-01 is day 719,469.
  const std::int64_t y = *year - (*month <= 2 ? 1 : 0);
  const std::int64_t m = (*month + 9) % 12;
  const std::int64_t days =
      365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + *day - 719'469;
  return static_cast<double>(days) * 86'400 + static_cast<double>(*hour * 3600 + *minute * 60) +
         *second;
}

// The arguments of the commands that set ranges: "SR,A" -> ",Auto", ",5".
using Ranges = std::map<std::string_view, std::vector<std::string_view>>;

struct Span {
  double begin = 0;
  double end = 0;
};

std::optional<Span> span_of(const DetailLog& log) {
  const auto begin = seconds_of(log["power_begin"].as_string());
  const auto end = seconds_of(log["power_end"].as_string());
  if (!begin || !end) return std::nullopt;
  return Span{*begin, *end};
}

// Mean watts of the rows between begin and end; nothing where there is none above 0.
std::optional<double> mean_watts(const TextFile& samples, const Span& span) {
  if (!samples.present()) return std::nullopt;
  double sum = 0;
  std::size_t count = 0;
  for (const std::string_view line : split(*samples.text, '\n')) {
    if (!line.starts_with("Time")) continue;
    const auto fields = split(line, ',');
    if (fields.size() < 4) continue;
    const auto at = seconds_of(fields[1]);
    const auto watts = parse_double(fields[3]);
    if (!at || !watts || *at <= span.begin || *at >= span.end || *watts <= 0) continue;
    sum += *watts;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

const PowerFiles* power_of(const At& at, Out& out) {
  if (at.result->power) return &*at.result->power;
  out.not_applicable();
  return nullptr;
}

void check_power_exactly(const Folder& folder, std::vector<std::string_view> wanted, Out& out) {
  constexpr std::array<std::string_view, 4> kAllowed{
      "mlperf_log_accuracy.json", "mlperf_log_trace.json", "results.json", ".gitkeep"};
  for (const std::string_view name : wanted) {
    if (!folder.has(name)) {
      out.error({folder.path, 0}, "no file " + std::string(name), "the measurement's files");
    }
  }
  for (const std::string& name : folder.files) {
    if (std::ranges::find(wanted, name) != wanted.end()) continue;
    if (std::ranges::find(kAllowed, name) != kAllowed.end()) continue;
    out.error({folder.path + "/" + name, 0}, "a file that does not belong here",
              "the measurement's files alone");
  }
}

void check_power_files(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr) return;
  for (const Folder* const folder : {&power->testing, &power->ranging}) {
    check_power_exactly(*folder, {"mlperf_log_summary.txt", "mlperf_log_detail.txt", "spl.txt"},
                        out);
  }
  check_power_exactly(power->power,
                      {"client.json", "client.log", "ptd_logs.txt", "server.json", "server.log"},
                      out);
}

void check_power_samples(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr) return;
  const DetailLog& log = at.result->performance;
  const auto testing = span_of(log);
  if (!testing) {
    return out.error(log.place("power_begin"), "no power_begin and power_end", "both, of the run");
  }
  const auto watts = mean_watts(power->testing_samples, *testing);
  if (!watts) {
    return out.error({power->testing_samples.name, 0}, "no reading while the test ran",
                     "readings between power_begin and power_end");
  }
  const auto ranging = span_of(power->ranging_log);
  const auto before =
      ranging ? mean_watts(power->ranging_samples, *ranging) : std::optional<double>{};
  if (!before) {
    return out.error({power->ranging_samples.name, 0}, "no reading while the ranging run ran",
                     "readings between power_begin and power_end");
  }
  const double delta = std::round((*watts / *before - 1) * 10'000) / 100;
  if (delta > -kDropMaxPercent) return;
  out.error({power->testing_samples.name, 0},
            format("{:.6g} W, {:.2f} % of the ranging run's {:.6g} W", *watts, delta, *before),
            format("more than -{:.0f} %", kDropMaxPercent));
}

// The digits at the end of "mlcommons/power client v3".
std::string_view version_in(std::string_view text, std::string_view mark) {
  const std::string whole = "mlcommons/power " + std::string(mark);
  const std::size_t at = text.find(whole);
  if (at == std::string_view::npos) return {};
  const std::string_view digits = text.substr(at + whole.size());
  const bool all = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return all ? digits : std::string_view{};
}

void check_power_session(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr) return;
  for (const Document* const file : {&power->client, &power->server}) {
    if (file->absent()) return;  // named by its own rule
    if (file->broken()) return out.error(file->place(), file->trouble(), "a JSON object");
    for (const std::string_view name : {"version", "timezone", "modules", "sources", "messages",
                                        "uuid", "session_name", "results", "phases"}) {
      if (file->root().find(name) != nullptr) continue;
      return out.error({file->name(), 0}, "no field " + std::string(name), "the session's facts");
    }
  }
  for (const std::string_view name : {"session_name", "uuid"}) {
    if (power->client.root()[name] == power->server.root()[name]) continue;
    out.error(power->client.place(pointer_to("", name)), said(power->client.root()[name]),
              "the director's: " + said(power->server.root()[name]));
  }
  for (const Document* const file : {&power->client, &power->server}) {
    const Json& sources = file->root()["sources"];
    const bool same =
        sources.size() == kSources.size() && std::ranges::all_of(kSources, [&](const auto& one) {
          return sources[one.first].as_string() == one.second;
        });
    if (same) continue;
    out.error(file->place("/sources"), "other sources of the power tools", "the published ones");
  }
  const Json& of_client = power->client.root()["messages"];
  const Json& of_server = power->server.root()["messages"];
  if (of_client.size() != of_server.size()) {
    return out.error(power->client.place("/messages"), format("{} messages", of_client.size()),
                     format("the director's {}", of_server.size()));
  }
  for (std::size_t i = 0; i < of_client.size(); ++i) {
    const Json& mine = of_client[i];
    const Json& theirs = of_server[i];
    const bool same = mine["cmd"] == theirs["cmd"] &&
                      (mine["cmd"].as_string() == "time" || mine["reply"] == theirs["reply"]);
    if (same) continue;
    return out.error(power->client.place(pointer_to("/messages", i)), said(mine["cmd"]),
                     "what the director has");
  }
  const std::string_view client = version_in(of_server[0]["cmd"].as_string(), "client v");
  const std::string_view server = version_in(of_server[0]["reply"].as_string(), "server v");
  if (client.empty() || client != server) {
    out.error(power->server.place("/messages"),
              format("client \"{}\", server \"{}\"", client, server), "one version of both");
  }
}

void check_power_phases(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr || !power->client.good() || !power->server.good()) {
    return out.not_applicable();
  }
  for (const std::string mode : {"ranging", "testing"}) {
    const std::string pointer = "/phases/" + mode;
    const Json& mine = power->client.at(pointer);
    const Json& theirs = power->server.at(pointer);
    if (mine.size() != theirs.size() || mine.size() < 3) {
      out.error(power->client.place(pointer), format("{} marks", mine.size()),
                "the same marks on both machines, at least three");
      continue;
    }
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const double apart = std::abs(mine[i][0].as_double() - theirs[i][0].as_double());
      if (apart <= kClockMaxS) continue;
      out.error(power->client.place(pointer_to(pointer, i)), format("{:.3f} s apart", apart),
                format("at most {} s", kClockMaxS));
    }
    const DetailLog& log = mode == "ranging" ? power->ranging_log : at.result->performance;
    const auto span = span_of(log);
    if (!span) continue;
    const auto inside = [&](double moment) {
      const double begin = mine[1][0].as_double();
      const double end = mine[2][0].as_double();
      return (begin < moment && moment < end) ||
             (begin < moment - kSummerTimeS && moment - kSummerTimeS < end);
    };
    if (inside(span->begin) && inside(span->end)) continue;
    out.error(log.place("power_begin"), "the test ran outside the session's " + mode + " phase",
              "power_begin and power_end within it");
  }
}

// At the end the ranges are what they were at the beginning.
void check_power_ranges(const Json& messages, Ranges& asked, const Place& place, Out& out) {
  const auto first = split(messages[2]["reply"].as_string(), ',');
  const auto initial = [&](std::size_t at) -> std::string {
    if (at + 1 >= first.size() || first[at] != "0") return "Auto";
    return parse_double(first[at + 1]).value_or(0) > 0 ? std::string(first[at + 1]) : "Auto";
  };
  const auto set = [&](std::string_view what, std::size_t number, const std::string& to) {
    return asked[what].size() >= number && asked[what][number - 1] == "," + to;
  };
  // The checker wants a fourth of these commands, and takes either.
  if (asked["SR,A"].size() < 4 || (!set("SR,A", 3, initial(1)) && !set("SR,A", 4, initial(1)))) {
    out.error(place, "the range of amperes is not set back", "SR,A," + initial(1));
  }
  if (!set("SR,V", 3, initial(3))) {
    out.error(place, "the range of volts is not set back", "SR,V," + initial(3));
  }
}

// Both machines recorded the digests of the session's files.
void check_power_digests(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr || !power->client.good() || !power->server.good()) {
    return out.not_applicable();
  }
  for (const std::string_view name : kSessionFiles) {
    const Json& of_client = power->client.root()["results"][name];
    const Json& of_server = power->server.root()["results"][name];
    const Json& recorded = of_server.is_null() ? of_client : of_server;
    const auto found = power->digests.find(std::string(name));
    if (!of_client.is_null() && !of_server.is_null() && of_client != of_server) {
      out.error(power->client.place("/results"), format("two digests of {}", name), "one");
    } else if (recorded.is_null()) {
      out.error(power->server.place("/results"), format("no digest of {}", name), "its SHA-1");
    } else if (found != power->digests.end() && recorded.as_string() != found->second) {
      out.error({at.result->path + "/performance/" + std::string(name), 0},
                "another file than the session's", "SHA-1 " + std::string(recorded.as_string()));
    }
  }
}

// The analyzer's answers to the director.
void check_power_replies(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr || !power->server.good()) return out.not_applicable();
  const Json& messages = power->server.root()["ptd_messages"];
  const Place place = power->server.place("/ptd_messages");
  std::string_view identity;
  Ranges asked;
  int stops = 0;
  for (const Json& message : messages.items()) {
    const std::string_view command = message["cmd"].as_string();
    const std::string_view reply = message["reply"].as_string();
    if (command == "Identify" && identity.empty()) identity = reply;
    std::string_view wanted;
    if (command.starts_with("SR,A")) wanted = "Range A changed";
    if (command.starts_with("SR,V")) wanted = "Range V changed";
    if (command.starts_with("Go,1000,")) {
      wanted =
          "Starting untimed measurement, maximum 500000 samples at 1000ms with 0 rampup samples";
    }
    if (command.starts_with("Stop")) {
      wanted = ++stops == 3 ? "Error: no measurement to stop" : "Stopping untimed measurement";
    }
    if (command.starts_with("SR,")) asked[command.substr(0, 4)].push_back(command.substr(4));
    if (!wanted.empty() && reply != wanted) {
      out.error(place, format("\"{}\" was answered \"{}\"", command, reply), std::string(wanted));
    }
  }
  const std::size_t version = identity.find("version=");
  if (version == std::string_view::npos ||
      identity.substr(version + 8, identity.find('-', version) - version - 8) != kPtdVersion) {
    out.error(place, said(Json(identity)), format("PTDaemon {}", kPtdVersion));
  }
  const std::string_view model = identity.substr(0, identity.find(','));
  if (std::ranges::find(kAnalyzers, model, &Analyzer::name) == kAnalyzers.end()) {
    out.error(place, said(Json(model)), "an accepted analyzer");
  }
  check_power_ranges(messages, asked, place, out);
}

void check_power_analyzer(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr || !power->server.good()) return out.not_applicable();
  if (power->server.root()["debug"].as_bool()) {
    out.error(power->server.place("/debug"), "true", "a director that is not in debug mode");
  }
  const Json& config = power->server.root()["ptd_config"];
  for (std::size_t i = 0; i < config.size(); ++i) {
    const Json& type = config[i]["device_type"];
    const Place place = power->server.place(pointer_to("/ptd_config", i));
    if (!type.is_integer() ||
        std::ranges::find(kAnalyzers, type.as_int(), &Analyzer::number) == kAnalyzers.end()) {
      out.error(place, said(type), "an accepted analyzer's number");
    } else if (type.as_int() == kTwoChannels && config[i]["channel"].size() != 2) {
      out.error(place, "one channel", "two channels of such an analyzer");
    }
  }
}

// A line of ptd_logs.txt: its instant, and what follows.
struct LoggedLine {
  std::optional<double> at{};
  std::string_view text{};
};

LoggedLine logged_line(std::string_view line) {
  constexpr std::size_t kStamp = 23;
  if (line.size() < kStamp) return {.text = line};
  const auto at = seconds_of(line.substr(0, kStamp));
  return {at, at ? trim(line.substr(kStamp)) : line};
}

void check_power_log(const At& at, Out& out) {
  const PowerFiles* const power = power_of(at, out);
  if (power == nullptr || !power->server.good() || !power->analyzer_log.present()) {
    return out.not_applicable();
  }
  const std::string& file = power->analyzer_log.name;
  const std::string begin_mark =
      format(": Go with mark '{}_ranging'", power->server.root()["session_name"].as_string());
  std::optional<double> begin;
  std::optional<double> end;
  std::optional<double> checked;
  for (const std::string_view line : split(*power->analyzer_log.text, '\n')) {
    const LoggedLine one = logged_line(line);
    if (!begin && one.text == begin_mark) begin = one.at;
    if (begin && !end && one.text == ": Completed test") end = one.at;
    const std::size_t word = line.find("Uncertainty checking for Yokogawa");
    if (!checked && word != std::string_view::npos &&
        line.find(" is activated", word) != std::string_view::npos) {
      checked = one.at;
    }
  }
  if (!begin || !end) {
    return out.error({file, 0}, "the ranging run is not in it", begin_mark + " … : Completed test");
  }
  if (!checked || *checked >= *begin) {
    out.error({file, 0}, "uncertainty checking was not activated before the ranging run",
              "\"Uncertainty checking for Yokogawa… is activated\"");
  }
  int number = 0;
  for (const std::string_view line : split(*power->analyzer_log.text, '\n')) {
    ++number;
    const std::size_t word = line.find("ERROR:");
    if (word == std::string_view::npos || trim(line.substr(word + 6)) == "USB.") continue;
    const LoggedLine one = logged_line(line);
    if (one.at && *begin < *one.at && *one.at < *end) continue;
    out.error({file, number}, std::string(trim(line.substr(word))), "no error while the test ran");
  }
}

}  // namespace

std::optional<double> run_watts(const ResultFolder& result) {
  if (!result.power) return std::nullopt;
  const auto span = span_of(result.performance);
  if (!span) return std::nullopt;
  return mean_watts(result.power->testing_samples, *span);
}

void add_power(Rules& rules) {
  const ResultRules add{rules, "power"};
  add("inf-power-files", "checker: PowerCheck.required_files_check",
      "run_1, ranging and power hold the measurement's files alone", "copy the session's files",
      check_power_files);
  add("inf-power-samples", "checker: PowerCheck.get_power_metric_check, phases_check",
      "readings lie in both runs, and the tested run draws no less by 5 %",
      "measure again on a system at rest before", check_power_samples);
  add("inf-power-session", "checker: uuid_check, session_name_check, messages_check",
      "client and director tell of one session", "keep the files of one session together",
      check_power_session);
  add("inf-power-phases", "checker: phases_check", "the two machines' clocks agree within 0.8 s",
      "set both clocks and measure again", check_power_phases);
  add("inf-power-digests", "checker: results_check",
      "the files are those whose SHA-1 the session recorded",
      "keep the session's files as they are", check_power_digests);
  add("inf-power-replies", "checker: ptd_messages_check",
      "an accepted analyzer answered as it should, and its ranges were set back",
      "measure again with an accepted analyzer and PTDaemon", check_power_replies);
  add("inf-power-analyzer", "checker: check_ptd_config, debug_check",
      "the director knows its analyzer and is not in debug mode", "configure the director",
      check_power_analyzer);
  add("inf-power-log", "checker: check_ptd_logs",
      "the analyzer's uncertainty was checked, and it logged no error while the test ran",
      "find the analyzer's fault and measure again", check_power_log);
}

}  // namespace assay::rules::inference
