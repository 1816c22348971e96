#include "cli/command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#include <vector>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/console.h"

namespace assay::cli {
namespace {

constexpr std::array kCommands{
    Command{"demo", "a whole curve of the built-in endpoint in a minute, with a report to open",
            cmd_demo},
    Command{"probe", "is it up, what does it speak, is its stream sane?", cmd_probe},
    Command{"doctor", "what this machine grants and lacks for measuring, and how to mend it",
            cmd_doctor},
    Command{"init", "a commented config to start from", cmd_init},
    Command{"run", "one measurement point: load an endpoint, record, report", cmd_run},
    Command{"curve", "a whole Pareto curve: plan, measure, resume, accuracy, steady state",
            cmd_curve},
    Command{"client", "MLPerf Client's prompts and figures, of a server on this machine",
            cmd_client},
    Command{"report", "a run again, from its event log", cmd_report},
    Command{"compare", "is one run worse than another? intervals, refusals, an exit code",
            cmd_compare},
    Command{"noise", "how far equal runs differ, and how many runs show a change", cmd_noise},
    Command{"decide", "which system serves a promise to how many users, and at what cost",
            cmd_decide},
    Command{"convert", "another tool's results as a run: vLLM bench, AIPerf, genai-perf",
            cmd_convert},
    Command{"calibrate", "how far this machine can be trusted: its ceiling and its error",
            cmd_calibrate},
    Command{"conformance", "other load generators against an endpoint whose truth is known",
            cmd_conformance},
    Command{"verify", "recompute every figure from the recorded events; check a bundle",
            cmd_verify},
    Command{"launch", "the ranks of one run on many hosts: by MPI, Slurm, Kubernetes or ssh",
            cmd_launch},
    Command{"merge", "the ranks of a run of several hosts as one run, exactly", cmd_merge},
    Command{"pack", "a submission tree of a curve, every authored file written", cmd_pack},
    Command{"check", "every rule of a submission, with the clause and the fix", cmd_check},
    Command{"regions", "the regions of concurrency in which a curve needs points", cmd_regions},
    Command{"explain", "what a finding, a verdict or an exit code means, and what to do",
            cmd_explain},
    Command{"bundle", "a run as one file in which no byte can change unseen", cmd_bundle},
    Command{"key", "make a key to sign bundles with", cmd_key},
    Command{"import", "results of any kind into the store", cmd_import},
    Command{"serve", "the explorer: curves, runs and reviews as a page and as an API", cmd_serve},
    Command{"export", "the explorer as static files, for any web host", cmd_export},
    Command{"review", "the review board: submissions, objections, deadlines", cmd_review},
    Command{"hub", "federated evaluation: what parties approve, order and release", cmd_hub},
    Command{"site", "evaluation where the data live: an agent, its policy, its releases", cmd_site},
    Command{"endpoint", "an OpenAI-compatible endpoint whose truth is known", cmd_endpoint},
    Command{"proxy", "stands before a live service and records an anonymous trace to replay",
            cmd_proxy},
    Command{"simulate", "what a serving system would do, from a model of it: a curve in seconds",
            cmd_simulate},
    Command{"dataset", "how a dataset is read: its rows, and what they ask", cmd_dataset},
    Command{"workloads", "the suites' benchmarks: datasets, limits, scores, by name",
            cmd_workloads},
    Command{"loadgen", "what an MLPerf LoadGen test asks, and the verdict on it", cmd_loadgen},
    Command{"tasks", "ready tasks: IFEval, MMLU, GSM8K and more, as files to copy", cmd_tasks},
    Command{"score", "how well replies answer their samples, by the field's formulas", cmd_score},
    Command{"jailbreak", "what attacks change: prompts as they stand and attacked, in pairs",
            cmd_jailbreak},
    Command{"safety", "safety grades of an endpoint: prompts, judges, votes, hazards", cmd_safety},
    Command{"tokens", "count, encode or decode text with a tokenizer", cmd_tokens},
    Command{"twin", "a model of your own system: five constants fitted to its measured curve",
            cmd_twin},
    Command{"pipeline", "steps that prepare data: partitions, conditions, approvals, resumed",
            cmd_pipeline},
    Command{"completion", "completion of commands and flags in bash, zsh or fish", cmd_completion},
    Command{"man", "manual pages of this program", cmd_man},
    Command{"mcp", "these commands as tools of an agent (Model Context Protocol)", cmd_mcp},
    Command{"version", "what this program is and how it was built", cmd_version},
};

std::string help() {
  std::string out =
      "assay: a load generator and measuring instrument for GenAI endpoints\n\n"
      "  assay COMMAND [flags]\n\nCommands\n";
  for (const Command& command : kCommands) {
    out += format("  {:<12}{}\n", command.name, command.summary);
  }
  out +=
      "\nassay COMMAND --help explains one. Every command takes --json.\n"
      "Exit codes: 0 done, 1 findings, 2 bad input or no such file, 3 endpoint can't be\n"
      "reached or file not read or written, 4 client-limited, 5 worse than the baseline,\n"
      "6 not comparable, 7 more than 10 % of the queries failed or none succeeded, 8 out of\n"
      "memory or of space on a disk, 130 interrupted. Of several the shell gets the first of\n"
      "8, 130, 7, 3, 4, 5; --json of run and curve has all, as \"exit\".\n";
  return out;
}

Error unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view near = nearest(name, names);
  return invalid(format("unknown command \"{}\"{}\n  assay --help lists them", name,
                        near.empty() ? "" : format("\n  did you mean \"{}\"?", near)));
}

Result<int> run_command(Args args) {
  const std::string& first = args.front();
  // `assay help NAME` means `assay NAME --help`.
  if (first == "help" && args.size() > 1) {
    const std::vector<std::string> turned{args[1], "--help"};
    return run_command(turned);
  }
  if (first == "--help" || first == "-h" || first == "help") {
    print(help());
    return exit_code(ExitCode::done);
  }
  if (first == "--version" || first == "-V") {
    print(format("assay {}\n", version()));
    return exit_code(ExitCode::done);
  }
  const auto command =
      std::ranges::find_if(kCommands, [&first](const Command& c) { return c.name == first; });
  if (command == kCommands.end()) return unknown_command(first);
  return command->function(args.subspan(1));
}

// Prints no error when the reader of a pipe has closed it (| head): ends silently, as an earlier
// write would have.
void end_if_nobody_reads() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&out, 1, 0) < 1 || (out.revents & POLLERR) == 0) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

constexpr std::string_view kNoMemory =
    "error: out of memory\n"
    "  a smaller input, fewer threads or connections, or a larger limit (ulimit -v)";

// Runs when a thread other than the first ends by an exception. It must not allocate.
[[noreturn]] void end_of_a_thread() {
  try {
    if (const std::exception_ptr fault = std::current_exception()) std::rethrow_exception(fault);
  } catch (const std::bad_alloc&) {
    // The program ends, whether the write succeeds or not.
    [[maybe_unused]] ssize_t said = ::write(STDERR_FILENO, kNoMemory.data(), kNoMemory.size());
    said = ::write(STDERR_FILENO, "\n", 1);
    ::_exit(exit_code(ExitCode::exhausted));
  } catch (const std::exception& fault) {
    static_cast<void>(std::fprintf(stderr, "error: internal: %s\n", fault.what()));
  }
  std::abort();
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

Result<CommandHelp> help_of(const Command& command, const std::vector<std::string>& more) {
  std::vector<std::string> args = more;
  args.emplace_back("--help-json");
  std::string text;
  {
    const HelpCapture capture(text);
    TRY(command.function(args));
  }
  ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  return CommandHelp::from_json(json);
}

int dispatch(Args args) {
  if (args.empty()) {
    print(help());
    return exit_code(ExitCode::done);
  }
  // A reader that closes standard error must not end a measurement.
  std::signal(SIGPIPE, SIG_IGN);
  // A file size limit then gives a write error, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(end_of_a_thread);
  int code = 0;
  try {
    const Result<int> result = run_command(args);
    code = result ? *result : exit_code(result.error().code);
    if (!result) say(error_text(result.error()));
  } catch (const std::bad_alloc&) {
    say(kNoMemory);
    code = exit_code(ExitCode::exhausted);
  } catch (const std::system_error& fault) {
    // A thread that can't start means no memory for its stack, or a limit on threads.
    const bool none = fault.code() == std::errc::resource_unavailable_try_again ||
                      fault.code() == std::errc::not_enough_memory;
    say(none ? kNoMemory : format("error: internal: {}", fault.what()));
    code = exit_code(none ? ExitCode::exhausted : ExitCode::findings);
  } catch (const std::exception& fault) {
    say(format("error: internal: {}", fault.what()));
    code = exit_code(ExitCode::findings);
  }
  // A result that was not written is not a result.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    end_if_nobody_reads();
    say("error: standard output can't be written");
    if (code == 0) code = exit_code(ExitCode::unreachable);
  }
  return code;
}

}  // namespace assay::cli
