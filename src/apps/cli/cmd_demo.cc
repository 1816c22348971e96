#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/calibrate/endpoint_process.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace assay::cli {
namespace {

constexpr int kQuestions = 16;
constexpr int kPrompts = 24;

constexpr std::string_view kScenario =
    "model: gpt-oss-120b\n"
    "hardware: h100-sxm\n"
    "backend: vllm\n"
    "precision: mxfp4\n"
    "parallel: tp=1\n";

// What no program can know of a system.
constexpr std::string_view kAnswers = R"(system:
  division: RDI
  system_name: Built-in endpoint
  system_availability_status: RDI
  system_size: 1 modelled accelerator
  serving_framework: assay endpoint
  tensor_parallel: 1
  pipeline_parallel: 1
  expert_parallel: 1
  data_parallel: 1
  node_types:
  - host_memory_configuration: as the host has it
    host_network_card_count: loopback
    driver: none
    filesystem: as the host has it
    accelerator_info:
    - {accelerator_model_name: modelled H100, accelerators_per_node: 1}
point:
  model_name: gpt-oss-120b
  model_precision: MXFP4
  link_to_model: https://example.org/model
  dataset_link: https://example.org/dataset
launch: assay endpoint --scenario scenario.yaml --speedup 2
)";

// The endpoint knows the answers to these, so the score is truly computed.
std::string questions() {
  std::string out;
  for (int i = 1; i <= kQuestions; ++i) {
    const int left = i * 7;
    const int sum = left + 13;
    const std::string asked = format("What is {} + 13? (A) {} (B) {} (C) {} (D) {}", left, sum - 1,
                                     sum, sum + 2, sum + 10);
    out += Json()
               .set("prompt", asked)
               .set("letter", "B")
               .set("answer", format("It is {}. Answer: B", sum))
               .dump() +
           "\n";
  }
  return out;
}

std::string prompts() {
  std::string out;
  for (int i = 1; i <= kPrompts; ++i) {
    out += format(
        "{{\"prompt\": \"Story {}: a ship, a storm, a lighthouse, and who was saved.\"}}\n", i);
  }
  return out;
}

Result<void> write_inputs(const std::filesystem::path& folder) {
  TRY(make_folders(folder));
  TRY(write_file_atomic(folder / "scenario.yaml", kScenario));
  TRY(write_file_atomic(folder / "answers.yaml", kAnswers));
  TRY(write_file_atomic(folder / "questions.jsonl", questions()));
  return write_file_atomic(folder / "prompts.jsonl", prompts());
}

// Standard output is for the one document of --json; what the steps print goes to standard error.
class OutputAside {
 public:
  explicit OutputAside(bool wanted) {
    if (wanted) kept_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (kept_ >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputAside() {
    if (kept_ < 0) return;
    std::fflush(stdout);  // what the steps printed may still be in its buffer
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  int kept_ = -1;
};

// Shows the command as a person would type it, and runs it.
Result<int> step(Result<int> (*command)(Args), std::string_view name,
                 const std::vector<std::string>& words) {
  std::string line = format("\n$ assay {}", name);
  for (const std::string& word : words) line += " " + word;
  print(line + "\n\n");
  return command(words);
}

struct DemoResult {
  int curve = 0;
  int check = 0;
};

Result<DemoResult> demonstrate(const std::filesystem::path& folder) {
  TRY(write_inputs(folder));
  const std::string questions_file = (folder / "questions.jsonl").string();
  ASSIGN_OR_RETURN(const auto endpoint,
                   campaign::EndpointProcess::start(
                       {"--scenario", (folder / "scenario.yaml").string(), "--speedup", "2",
                        "--osl", "uniform:8-16", "--answers", questions_file},
                       {}));
  const std::string curve = (folder / "curve").string();
  const std::string tree = (folder / "submission").string();
  DemoResult out;
  ASSIGN_OR_RETURN(out.curve, step(cmd_curve, "curve",
                                   {"--endpoint", endpoint->url(), "--model", "gpt-oss-120b",
                                    "--max-concurrency", "40", "--dataset",
                                    (folder / "prompts.jsonl").string(), "--dataset",
                                    format("acc:{},name=questions,accuracy_config.eval_method=gpqa,"
                                           "accuracy_config.ground_truth=letter",
                                           questions_file),
                                    "--quick", "--report-dir", curve}));
  // Client-limited: measured, but this machine was too busy for the figures to be the endpoint's
  // alone. The report says so first.
  if (out.curve != exit_code(ExitCode::done) && out.curve != exit_code(ExitCode::client_limited)) {
    return out;
  }
  ASSIGN_OR_RETURN(out.check,
                   step(cmd_pack, "pack",
                        {curve, "--out", tree, "--answers", (folder / "answers.yaml").string()}));
  if (out.check != exit_code(ExitCode::done)) return out;
  ASSIGN_OR_RETURN(out.check, step(cmd_check, "check", {tree, "--quiet", "--no-review"}));
  return out;
}

}  // namespace

Result<int> cmd_demo(Args args) {
  std::string folder = "demo";
  bool json = false;
  Flags flags("demo", "a whole curve of the built-in endpoint: measured, packed, checked");
  flags.add("FOLDER", &folder, "a new folder for all that is written");
  flags.add("--json", &json, "print where the results are as JSON; the steps' words go to stderr");
  flags.example("assay demo");
  PARSE_OR_RETURN(flags, args);
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored)) {
    return invalid(format("FOLDER: '{}' exists; remove it, or name another", folder));
  }
  Result<DemoResult> done = DemoResult{};
  {
    const OutputAside aside(json);
    done = demonstrate(folder);
  }
  if (!done) return done.error();
  const std::string report = (std::filesystem::absolute(folder) / "curve" / "report.html").string();
  const bool measured = done->curve == exit_code(ExitCode::done) ||
                        done->curve == exit_code(ExitCode::client_limited);
  if (json) {
    print(Json()
              .set("folder", folder)
              .set("report", report)
              .set("curve_exit_code", done->curve)
              .set("check_exit_code", done->check)
              .dump(2) +
          "\n");
  } else if (measured) {
    if (done->check == exit_code(ExitCode::findings)) {
      print(
          format("\nThe findings are right: the demo asks {} questions where the rules ask 4,395.\n"
                 "The accuracy gate itself is passed: the built-in endpoint knows the answers.\n",
                 kQuestions));
    }
    print(format("\nThe report to open: {}\n", report));
  }
  // Findings are expected, and a busy machine is no failure of a demonstration.
  if (!measured) return done->curve;
  return done->check == exit_code(ExitCode::findings) ? exit_code(ExitCode::done) : done->check;
}

}  // namespace assay::cli
