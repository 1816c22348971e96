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
constexpr std::array<std::int64_t, 9> kAnalyzers{8, 35, 48, 49, 52, 77, 508, 549, 586};

// "11-23-2026 10:00:00.123" as seconds of an era; nothing for another form.
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
  // Days of the civil calendar, years beginning in March.
  const std::int64_t y = *year - (*month <= 2 ? 1 : 0);
  const std::int64_t m = (*month + 9) % 12;
  const std::int64_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + *day;
  return static_cast<double>(days) * 86'400 + static_cast<double>(*hour * 3600 + *minute * 60) +
         *second;
}

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
  }
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
    if (type.is_number() && std::ranges::find(kAnalyzers, type.as_int()) != kAnalyzers.end()) {
      continue;
    }
    out.error(power->server.place(pointer_to("/ptd_config", i)), said(type),
              "an accepted analyzer's number");
  }
  if (!power->analyzer_log.present()) return;
  const std::string& text = *power->analyzer_log.text;
  const std::size_t begin = text.find("Uncertainty checking for Yokogawa");
  if (begin == std::string::npos || text.find(" is activated", begin) == std::string::npos) {
    out.error({power->analyzer_log.name, 0}, "uncertainty checking is not activated",
              "\"Uncertainty checking for Yokogawa… is activated\"");
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
  const auto add = [&](std::string_view id, std::string_view clause, std::string_view demand,
                       std::string_view fix, void (*check)(const At&, Out&)) {
    rules.push_back({{.id = id,
                      .group = "power",
                      .action = Action::reject_points,
                      .clause = clause,
                      .demand = demand,
                      .fix = fix},
                     Subject::result,
                     check});
  };
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
  add("inf-power-analyzer", "checker: check_ptd_config, check_ptd_logs, debug_check",
      "an accepted analyzer measured with its uncertainty checked", "see the power guide",
      check_power_analyzer);
}

}  // namespace assay::rules::inference
