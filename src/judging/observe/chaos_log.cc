#include "observe/chaos_log.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/files.h"
#include "base/format.h"

namespace assay::observe {
namespace {

constexpr std::int64_t kChaosVersion = 1;
constexpr std::size_t kActsMax = 10'000;
constexpr double kChaosInstantMax = 1e18;  // ns: sums of a few stay inside 64 bits
constexpr std::array<std::string_view, 5> kParts{"begin", "end", "undo", "undone", "skipped"};

std::string process_words(const Json& process) {
  if (process.find("pid") != nullptr) return format("process {}", process["pid"].as_int());
  return format("the process of {}", process["pid_file"].as_string());
}

std::string what_of(const Json& act) {
  if (const Json* const command = act.find("command")) return std::string(command->as_string());
  if (const Json* const http = act.find("http")) {
    const bool posts = !(*http)["body"].is_null();
    return format("{} {}", (*http)["method"].as_string(posts ? "POST" : "GET"),
                  (*http)["url"].as_string());
  }
  if (const Json* const signal = act.find("signal")) {
    return format("{} to {}", (*signal)["name"].as_string(), process_words(*signal));
  }
  return format("pause of {}", process_words(act["pause"]));
}

bool is_instant(const Json& value) {
  return value.is_integer() && std::abs(static_cast<double>(value.as_int())) <= kChaosInstantMax;
}

class ChaosReader {
 public:
  Result<void> line(const Json& json) {
    if (const Json* const version = json.find("chaos")) {
      if (version->as_int() != kChaosVersion) {
        return Error{Code::unsupported, format("a chaos log of version {}", version->as_int())};
      }
      return acts(json["acts"]);
    }
    if (json.find("act") != nullptr) return step(json);
    return {};  // a line of a later version
  }
  ChaosLog take() { return std::move(out_); }

 private:
  Result<void> acts(const Json& list) {
    if (!out_.acts.empty() || list.size() > kActsMax) {
      return Error{Code::corrupt, "a second head, or too many acts"};
    }
    for (const Json& act : list.items()) {
      if (!is_instant(act["at_ns"])) return Error{Code::corrupt, "an act without an instant"};
      out_.acts.push_back({.name = std::string(act["name"].as_string()),
                           .what = what_of(act),
                           .at = {act["at_ns"].as_int()}});
    }
    return {};
  }

  Result<void> step(const Json& json) {
    const std::uint64_t act = json["act"].as_uint(out_.acts.size());
    const auto part = std::ranges::find(kParts, json["step"].as_string());
    if (act >= out_.acts.size() || part == kParts.end()) {
      return Error{Code::corrupt, "a step of no act"};
    }
    if (!is_instant(json["at_ns"])) return Error{Code::corrupt, "a step at no instant of a clock"};
    ChaosStep step{.act = static_cast<std::uint32_t>(act),
                   .part = static_cast<ChaosPart>(part - kParts.begin()),
                   .at = {json["at_ns"].as_int()},
                   .output = std::string(json["output"].as_string()),
                   .error = std::string(json["error"].as_string())};
    if (json["exit"].is_integer()) step.exit_code = json["exit"].as_int();
    if (json["status"].is_integer()) step.status = json["status"].as_int();
    out_.steps.push_back(std::move(step));
    return {};
  }

  ChaosLog out_{};
};

}  // namespace

std::string chaos_head(std::string_view run_id, const Json& acts) {
  return Json()
             .set("chaos", kChaosVersion)
             .set("run_id", run_id)
             .set("clock", "the run's")
             .set("acts", acts)
             .dump() +
         "\n";
}

std::string chaos_line(const ChaosStep& step) {
  Json out;
  out.set("act", step.act)
      .set("step", kParts[static_cast<std::size_t>(step.part)])
      .set("at_ns", step.at.ns);
  if (step.exit_code) out.set("exit", *step.exit_code);
  if (step.status) out.set("status", *step.status);
  if (!step.output.empty()) out.set("output", step.output);
  if (!step.error.empty()) out.set("error", step.error);
  return out.dump() + "\n";
}

Result<ChaosLog> parse_chaos_log(std::string_view text) {
  ChaosReader reader;
  std::string trouble;
  for (std::size_t number = 1; !text.empty() && trouble.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off while it was written
    const auto json = Json::parse(text.substr(0, end));
    text.remove_prefix(end + 1);
    const Result<void> taken = json ? reader.line(*json) : Result<void>(json.error());
    if (taken) continue;
    if (taken.error().code == Code::unsupported) return taken.error();
    trouble = format("line {}: {}", number, taken.error().message);
  }
  ChaosLog out = reader.take();
  out.trouble = std::move(trouble);
  return out;
}

Result<ChaosLog> read_chaos_log(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return parse_chaos_log(text);
}

}  // namespace assay::observe
