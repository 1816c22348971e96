// external: the user's own evaluator (VBench, an LLM judge, a private metric). The replies are
// written to a file, JSON lines of {"sample", "answered", "reply", "content", "tool_calls",
// "tokens", "columns"}, and "artefacts" where the run kept them (--keep-artefacts): a list of
// {"path", "sha256", "bytes", "type"}. The command runs in its own folder, with {replies} and
// {result} replaced by paths. It writes JSON to {result}, or as the last line of its standard
// output: a number, or an object with "score" and any other fields. With "samples", a list of
// {"sample", "score"} whose mean is the score (or a hundredth of it), the score has an interval.
//
// It runs in a jail (code/jail.h) that shows the disk as the user sees it, read-only. Extras:
// network (false), writable (folders), jail (true; false runs the command as a shell would).
//
// bfcl_v4_multi_turn runs our own driver of the installed bfcl-eval (tool/bfcl_multi_turn.h), which
// asks the endpoint itself: extras endpoint and model, and python, subsets, entries_max, seed,
// temperature, body, max_steps_per_turn, request_timeout_s, api_key_env.
//
// swe_bench_scorer is the same and also reads the report of SWE-bench's harness: resolved_instances
// divided by the evaluated ones. sdxl and vbench also read what their suites' programs write
// (picture/media_results.h).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "score/code/sandbox.h"
#include "score/picture/media_results.h"
#include "score/scorer.h"
#include "score/tool/bfcl_multi_turn.h"

namespace assay::score {
namespace {

class External final : public Scorer {
 public:
  External(std::vector<std::string> command, double seconds, std::optional<Jail> jail,
           ScratchFolder folder, std::string_view name)
      : command_(std::move(command)),
        seconds_(seconds),
        jail_(std::move(jail)),
        folder_(std::move(folder)),
        name_(name) {}

  Result<void> add(const Row& row) override {
    Json line;
    line.set("sample", row.sample)
        .set("answered", row.answered)
        .set("reply", row.reply)
        .set("content", row.content)
        .set("tool_calls", row.tool_calls)
        .set("tokens", row.tokens >= 0 ? Json(row.tokens) : Json())
        .set("columns", *row.columns);
    if (!row.artefacts.is_null()) line.set("artefacts", row.artefacts);
    replies_ += line.dump();
    replies_ += '\n';
    return {};
  }

  Result<Verdict> finish() override {
    const auto replies = folder_.path() / "replies.jsonl";
    const auto result = folder_.path() / "result.json";
    TRY(write_file_atomic(replies, replies_));
    Program program{
        .folder = folder_.path(), .time_max = Duration::from_seconds(seconds_), .jail = jail_};
    std::vector<std::string> words = command_;
    for (std::string& word : words) {
      put(word, "{replies}", replies.string());
      put(word, "{result}", result.string());
    }
    program.commands.push_back(std::move(words));
    ASSIGN_OR_RETURN(const ProgramEnd end, run_program(program));
    if (end.out_of_time) {
      return Error{Code::timed_out, format("'{}' took more than {} s (extras.timeout_s)",
                                           command_.back(), seconds_)};
    }
    if (end.exit_code != 0) {
      return Error{Code::io,
                   format("extras.command: '{}' failed ({} {}): {}", command_.back(),
                          end.signal != 0 ? "signal" : "exit code",
                          end.signal != 0 ? end.signal : end.exit_code, last_line(end.err))};
    }
    // A link could show a file that the evaluator itself may not read.
    const bool wrote = std::filesystem::is_regular_file(std::filesystem::symlink_status(result));
    const auto file = wrote ? read_file(result) : Result<std::string>(std::string());
    const std::string text = wrote && file ? *file : std::string(last_line(end.out));
    const auto said = Json::parse(text);
    if (!said) return said.error().within(format("what '{}' said", command_.front()));
    const Json* const score = said->find("score");
    if (score == nullptr && name_ == "swe_bench_scorer") return resolved(*said);
    if (score == nullptr && said->is_object() && reads_media_results(name_)) {
      return media_verdict(name_, *said);
    }
    Verdict verdict;
    verdict.score = score != nullptr ? *score : *said;
    if (score == nullptr) return verdict;
    verdict.breakdown = *said;
    TRY(take_samples(verdict));
    return verdict;
  }

 private:
  // The evaluator's values of each sample become the score's interval, and leave the breakdown.
  static Result<void> take_samples(Verdict& verdict) {
    const Json* const list = verdict.breakdown.find("samples");
    if (list == nullptr || !list->is_array()) return {};
    Tally tally;
    for (const Json& one : list->items()) {
      if (!one["sample"].is_integer() || one["sample"].as_int(-1) < 0 ||
          one["sample"].as_int() > std::numeric_limits<std::uint32_t>::max() ||
          !one["score"].is_number()) {
        return invalid("samples: expected a list of {\"sample\": a row, \"score\": a number}");
      }
      const double value = one["score"].as_double();
      if (value != 0 && value != 1) tally.kind = FigureKind::mean;
      tally.add(static_cast<std::uint32_t>(one["sample"].as_uint()), value);
    }
    verdict.breakdown.erase("samples");
    const auto is_mean = [&](double scale) {
      return std::abs(verdict.score.as_double() - scale * tally.value()) <= 1e-6 * scale;
    };
    if (tally.samples.empty() || !verdict.score.is_number() || !(is_mean(1) || is_mean(100))) {
      verdict.note = "the evaluator's score is not the mean of its samples, so it has no interval";
      return {};
    }
    if (!is_mean(1)) tally.scale = 100;
    verdict.figures.push_back(figure_of("score", std::move(tally)));
    return {};
  }

  // SWE-bench's own report: resolved instances divided by the evaluated ones.
  static Result<Verdict> resolved(const Json& said) {
    const Json& good = said["resolved_instances"];
    std::int64_t all = static_cast<std::int64_t>(said["evaluated_instance_ids"].size());
    for (const char* key : {"submitted_instances", "total_instances"}) {
      if (all == 0) all = said[key].as_int(0);
    }
    if (!good.is_integer() || all <= 0) {
      return invalid(
          "the report has no resolved_instances, or none of evaluated_instance_ids, "
          "submitted_instances and total_instances");
    }
    Verdict verdict;
    verdict.score = static_cast<double>(good.as_int()) / static_cast<double>(all);
    verdict.breakdown = said;
    Tally instances;
    for (std::int64_t i = 0; i < std::min(all, kInstancesMax); ++i) {
      instances.add(static_cast<std::uint32_t>(i), i < good.as_int() ? 1 : 0);
    }
    // The report names instances and no rows, so there is nothing to compare in pairs.
    if (all <= kInstancesMax) {
      verdict.figures.push_back({.name = "score", .uncertainty = uncertainty_of(instances)});
    }
    return verdict;
  }

  static void put(std::string& word, std::string_view name, const std::string& path) {
    for (std::size_t at = word.find(name); at != std::string::npos;
         at = word.find(name, at + path.size())) {
      word.replace(at, name.size(), path);
    }
  }
  static std::string_view last_line(std::string_view text) {
    text = trim(text);
    const std::size_t end = text.rfind('\n');
    return end == std::string_view::npos ? text : text.substr(end + 1);
  }

  static constexpr std::int64_t kInstancesMax = 1'000'000;

  std::vector<std::string> command_;
  double seconds_;
  std::optional<Jail> jail_;
  ScratchFolder folder_;
  std::string name_;
  std::string replies_{};
};

// Returns no jail if the user turned it off.
Result<std::optional<Jail>> jail_of(const Json& extra) {
  if (!extra["jail"].as_bool(true)) return std::optional<Jail>();
  Jail jail{.view = Jail::View::disk,
            .network = extra["network"].as_bool(),
            .runs_own_files = true,
            .limits_addresses = false,
            .memory_bytes_max = extra["memory_mb"].as_uint(0) << 20,
            .processes_max = 0};
  for (const Json& one : extra["writable"].items()) {
    jail.writable.emplace_back(one.as_string());
    if (!std::filesystem::exists(jail.writable.back())) {
      return invalid(format("extras.writable: there is no '{}'", one.as_string()));
    }
  }
  if (const auto probed = probe_jail(jail); !probed) {
    return Error{probed.error().code,
                 format("{}\n  or run the evaluator without one: extras.jail: false",
                        probed.error().message)};
  }
  return jail;
}

// The driver's words: Python, the script, its settings' file, the result's file.
Result<std::vector<std::string>> multi_turn_command(const ScorerOptions& options,
                                                    const ScratchFolder& folder) {
  if (!options.allow_code) {
    return invalid(
        "bfcl_v4_multi_turn runs a model's calls\n  allow it: --allow-code, or extras.allow_code: "
        "true");
  }
  Json given = options.extra;
  for (const char* key : {"endpoint", "model"}) {
    if (given[key].as_string().empty()) {
      return invalid(
          format("bfcl_v4_multi_turn asks the endpoint itself and needs extras.{}\n  --extras "
                 "'{{\"endpoint\": \"http://HOST:PORT\", \"model\": \"NAME\"}}'",
                 key));
    }
  }
  std::string endpoint(given["endpoint"].as_string());
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (!endpoint.ends_with("/chat/completions")) {
    endpoint += endpoint.ends_with("/v1") ? "/chat/completions" : "/v1/chat/completions";
  }
  given.set("endpoint", endpoint);
  // A key in a file of extras would be kept with the run: it is named, and read here.
  const std::string key_name(given["api_key_env"].as_string("OPENAI_API_KEY"));
  if (const char* const key = std::getenv(key_name.c_str())) given.set("api_key", key);
  const auto script = folder.path() / "bfcl_multi_turn.py";
  const auto settings = folder.path() / "settings.json";  // other users see a command's words
  TRY(write_file_atomic(script, kBfclMultiTurn));
  TRY(write_file_atomic(settings, given.dump()));
  return std::vector<std::string>{std::string(given["python"].as_string("python3")), "-B",
                                  script.string(), settings.string(), "{result}"};
}

}  // namespace

Made make_external(std::string_view name, const ScorerOptions& options) {
  ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::make("score"));
  const bool multi_turn = name == "bfcl_v4_multi_turn";
  std::vector<std::string> command;
  if (multi_turn) {
    ASSIGN_OR_RETURN(command, multi_turn_command(options, folder));
  }
  const Json& given = options.extra["command"];
  if (given.is_string() && !multi_turn) {
    command.assign({"/bin/sh", "-c", std::string(given.as_string())});
  }
  for (const Json& word : given.items()) command.emplace_back(word.as_string());
  if (command.empty()) {
    return invalid(
        format("{} needs extras.command: a program, with {{replies}} and {{result}} for "
               "the files it reads and writes",
               name));
  }
  const double seconds = options.extra["timeout_s"].as_double(14400);
  if (!(seconds > 0)) return invalid("extras.timeout_s: must be above 0");
  ASSIGN_OR_RETURN(std::optional<Jail> jail, jail_of(options.extra));
  if (jail && multi_turn) jail->network = true;
  return std::make_unique<External>(std::move(command), seconds, std::move(jail), std::move(folder),
                                    name);
}

}  // namespace assay::score
