#include "site/measure.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

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

}  // namespace

std::vector<std::string> run_arguments(const Policy& policy, const Order& order,
                                       std::int64_t concurrency, const fs::path& folder) {
  const PrivateDataset& data = policy.datasets.at(order.dataset);
  const PrivateModel& model = policy.models.at(order.model);
  std::string spec = data.file.string();
  for (const std::string& option : data.options) spec += "," + option;
  std::vector<std::string> out{"run",
                               "--endpoint",
                               model.endpoint,
                               "--model",
                               model.name,
                               "--concurrency",
                               format("{}", concurrency),
                               "--samples",
                               format("{}", order.measurement.samples),
                               "--max-output-tokens",
                               format("{}", order.measurement.max_output_tokens),
                               "--dataset",
                               "perf:" + spec,
                               "--report-dir",
                               folder.string(),
                               "--keep-text",
                               "off"};
  if (!model.api_key_env.empty()) {
    out.insert(out.end(), {"--api-key-env", model.api_key_env});
  }
  if (!order.measurement.scorer.empty()) {
    std::string scored =
        format("acc:{},accuracy_config.eval_method={}", spec, order.measurement.scorer);
    if (!data.extractor.empty()) scored += ",accuracy_config.extractor=" + data.extractor;
    if (!data.ground_truth.empty()) {
      scored += ",accuracy_config.ground_truth=" + data.ground_truth;
    }
    out.insert(out.end(), {"--dataset", scored, "--mode", "both"});
  }
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
  std::error_code ignored;
  const fs::path scores = folder / "accuracy" / "accuracy_results.json";
  if (!fs::exists(scores, ignored)) return out;
  ASSIGN_OR_RETURN(const Json accuracy, read_json_file(scores));
  const Json& score = accuracy["accuracy_scores"][0];
  const double share = score["score"].as_double(NAN);
  // Another scale is no share of cases, which the policy's k-minimum is about.
  if (score["complete"].as_bool() && share >= 0 && share <= 1) {
    out.scored = score["total_samples"].as_int();
    out.figures.emplace_back("accuracy", share);
  }
  return out;
}

Result<std::vector<sites::MeasuredLevel>> measure(const Policy& policy, const Order& order,
                                                  const fs::path& program) {
  std::vector<sites::MeasuredLevel> out;
  const fs::path attempt = fresh_folder(policy.folder / order.run);
  TRY(make_folders(attempt));
  for (const std::int64_t level : order.measurement.concurrency) {
    const fs::path folder = attempt / format("c{}", level);
    ASSIGN_OR_RETURN(const int code,
                     run_program(program, run_arguments(policy, order, level, folder),
                                 attempt / "messages.txt"));
    if (code == exit_code(ExitCode::interrupted)) {
      return Error{Code::timed_out, format("the run '{}' was interrupted", order.run)};
    }
    if (code != exit_code(ExitCode::done) && code != exit_code(ExitCode::client_limited)) {
      return Error{Code::refused,
                   format("the run at concurrency {} ended with exit code {}\n  see '{}'", level,
                          code, (attempt / "messages.txt").string())};
    }
    ASSIGN_OR_RETURN(sites::MeasuredLevel read, read_level(folder, level));
    out.push_back(std::move(read));
  }
  return out;
}

}  // namespace assay::site
