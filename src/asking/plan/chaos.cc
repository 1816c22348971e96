#include "plan/chaos.h"

#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "base/yaml.h"

namespace assay::plan {
namespace {

constexpr Duration kChaosLongest{30LL * 86'400 * 1'000'000'000};  // thirty days

struct SignalName {
  std::string_view name{};
  int number = 0;
};
constexpr std::array<SignalName, 9> kSignals{{{"TERM", SIGTERM},
                                              {"KILL", SIGKILL},
                                              {"INT", SIGINT},
                                              {"HUP", SIGHUP},
                                              {"QUIT", SIGQUIT},
                                              {"USR1", SIGUSR1},
                                              {"USR2", SIGUSR2},
                                              {"STOP", SIGSTOP},
                                              {"CONT", SIGCONT}}};

Error wrong_chaos(const std::string& path, std::string_view what) {
  return Error{Code::invalid, format("{}: {}", path, what)};
}

std::string joined(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

// A map that has no other keys than these.
Result<void> check_keys(const Json& map, const std::string& path,
                        std::span<const std::string_view> keys) {
  if (!map.is_object()) {
    return wrong_chaos(path,
                       format("expected a map with {}, found {}", joined(keys), map.type_name()));
  }
  for (const auto& [key, value] : map.members()) {
    if (std::ranges::find(keys, std::string_view(key)) != keys.end()) continue;
    return wrong_chaos(path + "." + key, format("unknown key; one of: {}", joined(keys)));
  }
  return {};
}

Result<std::string> text_at(const Json& map, std::string_view key, const std::string& path) {
  const Json& value = map[key];
  if (!value.is_string() || trim(value.as_string()).empty()) {
    return wrong_chaos(format("{}.{}", path, key), "expected a text that is not empty");
  }
  return std::string(value.as_string());
}

// "10s", "250ms"; a bare number is of seconds.
Result<Duration> time_at(const Json& map, std::string_view key, const std::string& path) {
  const Json& value = map[key];
  const std::string text = value.is_string() ? std::string(value.as_string()) : value.dump();
  const auto time = parse_duration(text, 1_s);
  if (!time || *time < Duration{} || *time > kChaosLongest) {
    return wrong_chaos(format("{}.{}", path, key),
                       format("expected a time such as 10s, found {}", value.dump()));
  }
  return *time;
}

Result<void> read_process(const Json& map, const std::string& path, ChaosDeed& out) {
  const bool by_file = map.find("pid_file") != nullptr;
  if (by_file == (map.find("pid") != nullptr)) {
    return wrong_chaos(path, "name the process by pid or by pid_file");
  }
  if (by_file) {
    ASSIGN_OR_RETURN(out.pid_file, text_at(map, "pid_file", path));
    return {};
  }
  out.pid = map["pid"].is_integer() ? map["pid"].as_int() : 0;
  if (out.pid > 1 && out.pid <= std::numeric_limits<pid_t>::max()) return {};
  return wrong_chaos(path + ".pid", "expected the number of a process, above 1");
}

Result<void> read_http(const Json& map, const std::string& path, ChaosDeed& out) {
  static constexpr std::array<std::string_view, 4> kKeys{"url", "method", "body", "headers"};
  TRY(check_keys(map, path, kKeys));
  ASSIGN_OR_RETURN(out.url, text_at(map, "url", path));
  if (!out.url.starts_with("http://") && !out.url.starts_with("https://")) {
    return wrong_chaos(path + ".url", format("\"{}\" is not an http:// or https:// URL", out.url));
  }
  const Json& body = map["body"];
  if (!body.is_null()) out.body = body.is_string() ? std::string(body.as_string()) : body.dump();
  out.method = body.is_null() ? "GET" : "POST";
  if (map.find("method") != nullptr) {
    ASSIGN_OR_RETURN(out.method, text_at(map, "method", path));
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (!std::ranges::all_of(out.method, is_upper)) {
      return wrong_chaos(path + ".method", "expected a method such as POST");
    }
  }
  if (body.is_object() || body.is_array()) {
    out.headers.emplace_back("Content-Type", "application/json");
  }
  const Json& headers = map["headers"];
  if (!headers.is_null() && !headers.is_object()) {
    return wrong_chaos(path + ".headers", "expected a map of texts");
  }
  for (const auto& [name, value] : headers.members()) {
    const std::string text = value.is_string() ? std::string(value.as_string()) : value.dump();
    if (text.find_first_of("\r\n") != std::string::npos || name.empty() ||
        name.find_first_of("\r\n: ") != std::string::npos) {
      return wrong_chaos(path + ".headers", format("{} is not a header", json_quote(name)));
    }
    out.headers.emplace_back(name, text);
  }
  return {};
}

Result<void> read_signal(const Json& map, const std::string& path, ChaosDeed& out) {
  static constexpr std::array<std::string_view, 3> kKeys{"name", "pid", "pid_file"};
  TRY(check_keys(map, path, kKeys));
  ASSIGN_OR_RETURN(const std::string name, text_at(map, "name", path));
  std::string_view bare = name;
  if (bare.starts_with("SIG")) bare.remove_prefix(3);
  const auto found = std::ranges::find(kSignals, bare, &SignalName::name);
  if (found == kSignals.end()) {
    std::string known;
    for (const SignalName& one : kSignals)
      known += (known.empty() ? "" : ", ") + std::string(one.name);
    return wrong_chaos(path + ".name", format("unknown signal \"{}\"; one of: {}", name, known));
  }
  out.signal = found->number;
  return read_process(map, path, out);
}

constexpr std::array<std::string_view, 4> kDeeds{"command", "http", "signal", "pause"};

// What the map says to do: exactly one of the keys in kDeeds.
Result<ChaosDeed> read_deed(const Json& map, const std::string& path) {
  ChaosDeed out;
  std::size_t named = 0;
  for (std::size_t i = 0; i < kDeeds.size(); ++i) {
    if (map.find(kDeeds[i]) == nullptr) continue;
    out.kind = static_cast<ChaosKind>(i);
    ++named;
  }
  if (named != 1) return wrong_chaos(path, format("expected exactly one of: {}", joined(kDeeds)));
  const std::string_view key = kDeeds[static_cast<std::size_t>(out.kind)];
  const std::string here = format("{}.{}", path, key);
  switch (out.kind) {
    case ChaosKind::command: {
      ASSIGN_OR_RETURN(out.command, text_at(map, key, path));
      break;
    }
    case ChaosKind::http:
      TRY(read_http(map[key], here, out));
      break;
    case ChaosKind::signal:
      TRY(read_signal(map[key], here, out));
      break;
    case ChaosKind::pause: {
      static constexpr std::array<std::string_view, 2> kKeys{"pid", "pid_file"};
      TRY(check_keys(map[key], here, kKeys));
      TRY(read_process(map[key], here, out));
      out.signal = SIGSTOP;
      break;
    }
  }
  return out;
}

// `for`, `until` and `undo` go together: a time without an end that is done at it means nothing.
Result<void> read_end(const Json& map, const std::string& path, ChaosAct& out) {
  const bool lasts = map.find("for") != nullptr;
  const bool until = map.find("until") != nullptr;
  const bool pause = out.deed.kind == ChaosKind::pause;
  const Json* const undo = map.find("undo");
  if (lasts && until) return wrong_chaos(path, "give for or until, not both");
  if (lasts) {
    ASSIGN_OR_RETURN(out.lasts, time_at(map, "for", path));
  } else if (until) {
    ASSIGN_OR_RETURN(const Duration end, time_at(map, "until", path));
    out.lasts = end - out.at;
  }
  if ((lasts || until) && out.lasts <= Duration{}) {
    return wrong_chaos(path + (lasts ? ".for" : ".until"), "the act would end before it begins");
  }
  if (pause && undo != nullptr) return wrong_chaos(path + ".undo", "a pause ends by itself");
  if (pause && !lasts && !until)
    return wrong_chaos(path + ".for", "a pause needs its time: for: 5s");
  if (undo != nullptr && !lasts && !until) {
    return wrong_chaos(path + ".undo", "say when: for: 5s, or until: 30s");
  }
  if (undo == nullptr) {
    if (pause || (!lasts && !until)) return {};
    return wrong_chaos(path + (lasts ? ".for" : ".until"),
                       "nothing ends this act; give undo: with a command, an http or a signal");
  }
  static constexpr std::array<std::string_view, 3> kUndoKeys{"command", "http", "signal"};
  TRY(check_keys(*undo, path + ".undo", kUndoKeys));
  ASSIGN_OR_RETURN(out.undo, read_deed(*undo, path + ".undo"));
  return {};
}

Result<ChaosAct> read_act(const Json& map, const std::string& path) {
  static constexpr std::array<std::string_view, 10> kKeys{
      "name", "at", "command", "http", "signal", "pause", "for", "until", "undo", "timeout"};
  ChaosAct out;
  TRY(check_keys(map, path, kKeys));
  if (map.find("at") == nullptr) {
    return wrong_chaos(path + ".at",
                       "missing; say when, from the start of the measured phase: at: 10s");
  }
  ASSIGN_OR_RETURN(out.at, time_at(map, "at", path));
  ASSIGN_OR_RETURN(out.deed, read_deed(map, path));
  TRY(read_end(map, path, out));
  if (map.find("timeout") != nullptr) {
    ASSIGN_OR_RETURN(out.timeout, time_at(map, "timeout", path));
    if (out.timeout <= Duration{}) return wrong_chaos(path + ".timeout", "expected a time above 0");
  }
  out.name = kDeeds[static_cast<std::size_t>(out.deed.kind)];
  if (map.find("name") != nullptr) {
    ASSIGN_OR_RETURN(out.name, text_at(map, "name", path));
  }
  return out;
}

Result<Json> load_chaos(const std::string& path, const Environment& environment) {
  constexpr std::size_t kBytesMax = std::size_t{1} << 20;
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kBytesMax));
  const auto root = yaml::parse(text);
  if (!root) return invalid(format("{}:{}", path, root.error().message));
  Json out = root->to_json();
  Json* const acts = out.find("acts");
  if (acts == nullptr || !acts->is_array()) return out;
  const auto fill = [&](Json* deed) -> Result<void> {
    Json* const http = deed->find("http");
    Json* const headers = http == nullptr ? nullptr : http->find("headers");
    if (headers == nullptr || !headers->is_object()) return {};
    for (auto& [name, value] : headers->make_object()) {
      auto filled = expand(value.as_string(), environment);
      if (!filled) return filled.error().within(path + ": " + name);
      if (value.is_string()) value = Json(*std::move(filled));
    }
    return {};
  };
  for (Json& act : acts->make_array()) {
    TRY(fill(&act));
    if (Json* const undo = act.find("undo")) TRY(fill(undo));
  }
  return out;
}

}  // namespace

Result<std::vector<ChaosAct>> parse_chaos(const Json& chaos) {
  static constexpr std::array<std::string_view, 1> kKeys{"acts"};
  std::vector<ChaosAct> out;
  if (chaos.is_null()) return out;
  TRY(check_keys(chaos, "chaos", kKeys));
  const Json& acts = chaos["acts"];
  if (!acts.is_array() || acts.size() == 0) return wrong_chaos("acts", "expected a list of acts");
  if (acts.size() > kChaosActsMax)
    return wrong_chaos("acts", format("at most {} acts", kChaosActsMax));
  for (std::size_t i = 0; i < acts.size(); ++i) {
    ASSIGN_OR_RETURN(ChaosAct act, read_act(acts[i], format("acts[{}]", i)));
    out.push_back(std::move(act));
  }
  return out;
}

void read_chaos(Config& config, const Environment& environment, Reading& reading) {
  constexpr std::string_view kWhere = "settings.chaos";
  Json& asked = config.settings.chaos;
  if (asked.is_null()) return;
  const Json* const file = asked.find("file");
  const std::string path = file == nullptr ? std::string() : std::string(file->as_string());
  Result<Json> content = file == nullptr ? Result<Json>(asked) : load_chaos(path, environment);
  Result<std::vector<ChaosAct>> acts = std::vector<ChaosAct>();
  if (content) {
    acts = parse_chaos(*content);
    if (!acts && file != nullptr) acts = acts.error().within(path);
  }
  if (!content || !acts) {
    reading.wrong_setting(std::string(kWhere),
                          content ? acts.error().message : content.error().message,
                          "docs/formats/chaos.md has the keys and an example");
    return;
  }
  asked = *std::move(content);
}

}  // namespace assay::plan
