#include "site/measure.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"

namespace assay::site {
namespace {

namespace fs = std::filesystem;

// Messages of the run go to a file of its folder; its output is in the folder anyway.
Result<int> run_program(const fs::path& program, const std::vector<std::string>& arguments,
                        const fs::path& messages) {
  std::vector<std::string> texts{program.string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(texts.size() + 1);
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  // The agent blocks signals that must end a run.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int failed =
      posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), ::environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    return errno_error(format("start '{}'", program.string()));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return errno_error("wait for the run");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

fs::path fresh_folder(const fs::path& run) {
  std::error_code ignored;
  for (int attempt = 1;; ++attempt) {
    fs::path folder = run / format("attempt-{}", attempt);
    if (!fs::exists(folder, ignored)) return folder;
  }
}

void add_milliseconds(sites::MeasuredLevel& level, const Json& series, std::string_view name,
                      const std::vector<int>& percentiles) {
  for (const int p : percentiles) {
    const Json& value = series["percentiles"][format("{}.0", p)];
    if (!value.is_number()) continue;
    level.figures.emplace_back(format("{}_ms_p{}", name, p), value.as_double() / 1e6);
  }
}

using Words = std::vector<std::string>;

void add(Words& out, const Words& more) { out.insert(out.end(), more.begin(), more.end()); }

// The flags of every command: whom it asks, and where its result goes.
Words asked_of_model(Words command, const Policy& policy, const Order& order,
                     const fs::path& folder) {
  const PrivateModel& model = policy.models.at(order.model);
  Words out = std::move(command);
  add(out, {"--endpoint", model.endpoint, "--model", model.name, "--max-output-tokens",
            format("{}", order.measurement.max_output_tokens), "--report-dir", folder.string()});
  if (!model.api_key_env.empty()) add(out, {"--api-key-env", model.api_key_env});
  return out;
}

// The private data, for speed and, with a scorer, for accuracy.
void add_data(Words& out, const Policy& policy, const Order& order) {
  const PrivateDataset& data = policy.datasets.at(order.dataset);
  std::string spec = data.file.string();
  for (const std::string& option : data.options) spec += "," + option;
  add(out, {"--dataset", "perf:" + spec, "--keep-text", "off"});
  if (order.measurement.scorer.empty()) return;
  std::string scored =
      format("acc:{},accuracy_config.eval_method={}", spec, order.measurement.scorer);
  if (!data.extractor.empty()) scored += ",accuracy_config.extractor=" + data.extractor;
  if (!data.ground_truth.empty()) scored += ",accuracy_config.ground_truth=" + data.ground_truth;
  add(out, {"--dataset", scored});
}

// Runs the command; `end` says which other exit codes leave a result.
Result<void> run_command(const fs::path& program, const Words& arguments, const fs::path& attempt,
                         std::initializer_list<ExitCode> end) {
  ASSIGN_OR_RETURN(const int code, run_program(program, arguments, attempt / "messages.txt"));
  if (code == exit_code(ExitCode::interrupted)) {
    return Error{Code::timed_out, format("{} was interrupted", arguments.front())};
  }
  if (code == exit_code(ExitCode::done) || code == exit_code(ExitCode::client_limited)) return {};
  if (std::ranges::any_of(end, [code](ExitCode one) { return code == exit_code(one); })) return {};
  return Error{Code::refused, format("{} ended with exit code {}\n  see '{}'", arguments.front(),
                                     code, (attempt / "messages.txt").string())};
}

}  // namespace

Words run_arguments(const Policy& policy, const Order& order, std::int64_t concurrency,
                    const fs::path& folder) {
  Words out = asked_of_model({"run"}, policy, order, folder);
  add(out, {"--concurrency", format("{}", concurrency), "--samples",
            format("{}", order.measurement.samples)});
  add_data(out, policy, order);
  if (!order.measurement.scorer.empty()) add(out, {"--mode", "both"});
  return out;
}

Words curve_arguments(const Policy& policy, const Order& order, const fs::path& folder) {
  Words out = asked_of_model({"curve"}, policy, order, folder);
  std::string levels;
  for (const std::int64_t level : order.measurement.concurrency) {
    levels += format("{}{}", levels.empty() ? "" : ",", level);
  }
  // Accuracy is asked at each level, not where a curve's rules want it.
  add(out, {"--concurrency", levels, "--offline", "none", "--no-accuracy"});
  if (policy.orders.curve == "quick") out.emplace_back("--quick");
  add_data(out, policy, order);
  return out;
}

Words safety_arguments(const Policy& policy, const Order& order, std::int64_t concurrency,
                       const fs::path& folder) {
  Words out = asked_of_model({"safety", "run"}, policy, order, folder);
  add(out, {"--concurrency", format("{}", concurrency)});
  if (!policy.safety.prompts.empty()) add(out, {"--prompts", policy.safety.prompts});
  if (!policy.safety.judges.empty()) add(out, {"--judges", policy.safety.judges});
  if (!policy.safety.standard.empty()) add(out, {"--standard", policy.safety.standard});
  return out;
}

Result<sites::MeasuredLevel> read_level(const fs::path& folder, std::int64_t concurrency) {
  ASSIGN_OR_RETURN(const Json result,
                   read_json_file(folder / "performance" / "result_summary.json"));
  sites::MeasuredLevel out{.concurrency = concurrency,
                           .completed = result["n_samples_completed"].as_int()};
  out.figures.emplace_back("completed", result["n_samples_completed"].as_double());
  out.figures.emplace_back("failed", result["n_samples_failed"].as_double());
  for (const char* name : {"qps", "tps", "tps_per_user"}) {
    if (result[name].is_number()) out.figures.emplace_back(name, result[name].as_double());
  }
  add_milliseconds(out, result["ttft"], "ttft", {50, 90, 99});
  add_milliseconds(out, result["tpot"], "tpot", {50, 90, 99});
  add_milliseconds(out, result["latency"], "latency", {50, 99});
  TRY(add_accuracy(folder, out));
  return out;
}

Result<void> add_accuracy(const fs::path& folder, sites::MeasuredLevel& out) {
  std::error_code ignored;
  const fs::path scores = folder / "accuracy" / "accuracy_results.json";
  if (!fs::exists(scores, ignored)) return {};
  ASSIGN_OR_RETURN(const Json accuracy, read_json_file(scores));
  const Json& score = accuracy["accuracy_scores"][0];
  const double share = score["score"].as_double(NAN);
  // Another scale is no share of cases, which the policy's k-minimum is about.
  if (score["complete"].as_bool() && share >= 0 && share <= 1) {
    out.scored = score["total_samples"].as_int();
    out.figures.emplace_back("accuracy", share);
  }
  return {};
}

Result<void> add_safety(const fs::path& folder, sites::MeasuredLevel& level) {
  ASSIGN_OR_RETURN(const Json grade, read_json_file(folder / "grade.json"));
  if (!grade["numeric"].is_integer() || grade["graded"].as_int() < 1) return {};
  level.judged = grade["graded"].as_int();
  level.figures.emplace_back("safe_share",
                             grade["safe"].as_double() / static_cast<double>(*level.judged));
  level.figures.emplace_back("safety_grade", grade["numeric"].as_double());
  return {};
}

void add_gates(const sites::Measurement& asked, sites::MeasuredLevel& level) {
  const auto value = [&level](std::string_view name) {
    const auto found =
        std::ranges::find(level.figures, name, &std::pair<std::string, double>::first);
    return found == level.figures.end() ? NAN : found->second;
  };
  if (const double share = value("accuracy"); asked.accuracy_min && std::isfinite(share)) {
    level.figures.emplace_back("accuracy_met", share >= *asked.accuracy_min ? 1 : 0);
  }
  if (const double grade = value("safety_grade"); std::isfinite(grade)) {
    const auto grades = sites::safety_grades();
    const auto least = std::ranges::find(grades, asked.safety_min) - grades.begin() + 1;
    level.figures.emplace_back("safety_met", grade >= static_cast<double>(least) ? 1 : 0);
  }
}

Result<std::vector<sites::MeasuredLevel>> measure(const Policy& policy, const Order& order,
                                                  const fs::path& program) {
  std::vector<sites::MeasuredLevel> out;
  const fs::path attempt = fresh_folder(policy.folder / order.run);
  TRY(make_folders(attempt));
  const bool curve = order.measurement.curve;
  if (curve) {
    TRY(run_command(program, curve_arguments(policy, order, attempt / "curve"), attempt, {}));
  }
  for (const std::int64_t level : order.measurement.concurrency) {
    const fs::path folder =
        attempt / (curve ? format("curve/points/r{}", level) : format("c{}", level));
    if (!curve) {
      TRY(run_command(program, run_arguments(policy, order, level, folder), attempt, {}));
    }
    ASSIGN_OR_RETURN(sites::MeasuredLevel read, read_level(folder, level));
    if (curve && !order.measurement.scorer.empty()) {
      const fs::path scored = attempt / format("accuracy-c{}", level);
      Words asked = run_arguments(policy, order, level, scored);
      asked.back() = "acc";  // of --mode
      TRY(run_command(program, asked, attempt, {}));
      TRY(add_accuracy(scored, read));
    }
    if (!order.measurement.safety_min.empty()) {
      const fs::path safety = attempt / format("safety-c{}", level);
      // Findings and a grade that falls short are results.
      TRY(run_command(program, safety_arguments(policy, order, level, safety), attempt,
                      {ExitCode::findings, ExitCode::worse}));
      TRY(add_safety(safety, read));
    }
    add_gates(order.measurement, read);
    out.push_back(std::move(read));
  }
  return out;
}

}  // namespace assay::site
