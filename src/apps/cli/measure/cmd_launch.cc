#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "campaign/merge_ranks.h"
#include "campaign/run_folder.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "ranks/launch.h"
#include "report/terminal.h"

namespace assay::cli {
namespace {

struct LaunchOptions {
  ranks::LaunchSpec spec{};
  std::string hosts{};
  std::string levels{};
  std::uint64_t ranks = 0;
  std::uint64_t port = 7077;
  bool dry_run = false;
  bool json = false;
};

void add_launch_flags(Flags& flags, LaunchOptions& options) {
  ranks::LaunchSpec& spec = options.spec;
  flags.add("--engine", &spec.engine, "what starts the ranks")
      .choices({"mpi", "slurm", "k8s", "ssh"})
      .required();
  flags.add("--hosts", &options.hosts, "with mpi and ssh: the ranks' hosts, rank 0's first")
      .value("A,B,…");
  flags.add("--ranks", &options.ranks, "processes; without it one a host").value("N");
  flags.add("--port", &options.port, "where rank 0 listens, with mpi, k8s and ssh").value("PORT");
  flags.add("--name", &spec.name, "the job's name").value("NAME");
  flags.add("--program", &spec.program, "assay's path on the hosts or in the image").value("PATH");
  flags.add("--image", &spec.image, "with k8s: the image that has assay").value("IMAGE");
  flags.add("--claim", &spec.claim, "with k8s: the volume claim that holds the report dir")
      .value("NAME");
  flags.add("--secret", &spec.secret, "with k8s: a Secret whose entries become variables")
      .value("NAME");
  flags
      .add("--engine-arg", &spec.engine_words,
           "one more word for mpirun, sbatch (as an #SBATCH line), kubectl or ssh; again for more")
      .value("WORD");
  flags
      .add("--levels", &options.levels,
           "a curve: the run at each of these concurrencies in turn, below r<level> of its report "
           "dir; what is there already is kept")
      .value("LIST");
  flags.add("--dry-run", &options.dry_run, "print the files and the commands; start nothing");
  flags.add("--json", &options.json, "print them, or the merged result, as JSON");
  flags.example("assay launch --engine ssh --hosts node1,node2 -- --config c.yaml \\");
  flags.example("          --report-dir runs/big");
  flags.example(
      "assay launch --engine k8s --ranks 8 --image registry/assay:0.1 --claim results \\");
  flags.example("          --dry-run -- --config /results/c.yaml --report-dir /results/big");
}

Json launch_json(const ranks::Launch& launch) {
  Json files = Json::array();
  for (const ranks::LaunchFile& file : launch.files) {
    files.push_back(Json().set("path", launch.report_dir + "/" + file.name).set("text", file.text));
  }
  Json commands = Json::array();
  for (const auto& words : launch.commands) {
    Json command = Json::array();
    for (const std::string& word : words) command.push_back(word);
    commands.push_back(std::move(command));
  }
  return Json()
      .set("ranks", launch.ranks)
      .set("files", std::move(files))
      .set("commands", std::move(commands));
}

void print_launch(const ranks::Launch& launch) {
  for (const ranks::LaunchFile& file : launch.files) {
    print(format("# {}/{}\n{}\n", launch.report_dir, file.name, file.text));
  }
  for (const auto& words : launch.commands) print(ranks::shell_line(words) + "\n");
}

// Its output is ours, but standard output where `quiet`: that carries one result.
Result<pid_t> start(const std::vector<std::string>& words, bool quiet) {
  std::vector<char*> argv;
  // posix_spawnp takes what it does not change as changeable.
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  if (quiet) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, argv.front(), &actions, nullptr, argv.data(), ::environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  errno = failed;
  return errno_error(format("cannot start '{}'", words.front()));
}

// The exit code, or 128 + the signal, as a shell says it.
int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kBySignal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

// The first code other than 0, by rank: rank 0's is the run's.
Result<int> start_all(const ranks::Launch& launch, bool quiet) {
  std::vector<pid_t> started;
  Result<int> out = 0;
  for (const auto& words : launch.commands) {
    auto pid = start(words, quiet);
    if (!pid) {
      out = pid.error();
      for (const pid_t other : started) ::kill(other, SIGINT);
      break;
    }
    started.push_back(*pid);
  }
  for (const pid_t pid : started) {
    const int code = wait_for(pid);
    if (out && *out == 0) out = code;
  }
  return out;
}

bool is_here(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "assay", error);
}

void show(const audit::LoadedRun& run, bool json) {
  print(json ? campaign::summary_json(run).dump(2) + "\n"
             : report::terminal_report(run.point, campaign::report_context(run),
                                       report::terminal_style(1)));
}

// Where the hosts have no disk in common, rank 0 could not merge.
Result<void> gather_and_merge(const LaunchOptions& options, const ranks::LaunchSpec& spec,
                              const ranks::Launch& launch) {
  const std::filesystem::path all = launch.report_dir;
  TRY(make_folders(all));
  std::vector<std::filesystem::path> folders;
  for (std::uint32_t rank = 0; rank < launch.ranks; ++rank) {
    const std::filesystem::path folder = all / format("rank-{}", rank);
    if (!is_here(folder)) {
      ASSIGN_OR_RETURN(const pid_t pid,
                       start({"sh", "-c", ranks::gather_line(spec, launch, rank)}, true));
      if (wait_for(pid) != 0) {
        say(format("rank {}'s folder could not be brought here from {}", rank,
                   launch.rank_hosts[rank]));
      }
    }
    if (is_here(folder)) folders.push_back(folder);
  }
  ASSIGN_OR_RETURN(const auto run,
                   campaign::merge_ranks(folders, all / "merged", {.allow_missing = true}));
  if (!options.json) show(run, false);
  return {};
}

std::filesystem::path merged_of(const ranks::Launch& launch) {
  return std::filesystem::path(launch.report_dir) / "merged";
}

// The run's exit code. Of a person's terminal its result is written.
Result<int> measure(const LaunchOptions& options, const ranks::LaunchSpec& spec,
                    const ranks::Launch& launch) {
  for (const ranks::LaunchFile& file : launch.files) {
    TRY(write_file_atomic(std::filesystem::path(launch.report_dir) / file.name, file.text));
  }
  // mpirun's rank 0 shows the result itself; what ssh brings is of ranks on other disks.
  const bool ssh = !launch.rank_hosts.empty();
  ASSIGN_OR_RETURN(const int code, start_all(launch, options.json || ssh));
  if (ssh && !is_here(merged_of(launch))) {
    TRY(gather_and_merge(options, spec, launch));
  } else if (ssh && !options.json) {
    ASSIGN_OR_RETURN(const auto run, campaign::load_run(merged_of(launch)));
    show(run, false);
  }
  return code;
}

Result<int> go(const LaunchOptions& options, const ranks::Launch& launch) {
  ASSIGN_OR_RETURN(const int code, measure(options, options.spec, launch));
  if (!options.json) return code;
  if (is_here(merged_of(launch))) {
    ASSIGN_OR_RETURN(const auto run, campaign::load_run(merged_of(launch)));
    show(run, true);
  } else {
    print(launch_json(launch).dump(2) + "\n");
  }
  return code;
}

Result<std::vector<std::uint64_t>> levels_of(const std::string& list) {
  std::vector<std::uint64_t> out;
  for (const std::string_view word : split(list, ',')) {
    const auto level = parse_uint(trim(word));
    if (!level || *level == 0) {
      return invalid(format("--levels: '{}' is no concurrency\n  such as 1,16,64", word));
    }
    out.push_back(*level);
  }
  return out;
}

// The levels of a curve, one after the other. The first that fails ends it; called again it goes
// on there.
Result<int> go_levels(const LaunchOptions& options) {
  ASSIGN_OR_RETURN(const auto levels, levels_of(options.levels));
  Json points = Json::array();
  int worst = exit_code(ExitCode::done);
  std::string merged;
  for (const std::uint64_t level : levels) {
    ASSIGN_OR_RETURN(const ranks::LaunchSpec spec, ranks::at_level(options.spec, level));
    ASSIGN_OR_RETURN(const ranks::Launch launch, plan_launch(spec));
    if (options.dry_run) {
      if (!options.json) print_launch(launch);
      points.push_back(launch_json(launch));
      continue;
    }
    int code = exit_code(ExitCode::done);
    const bool there = is_here(merged_of(launch));
    if (there) {
      say(format("{}: is there", launch.report_dir));
    } else {
      ASSIGN_OR_RETURN(code, measure(options, spec, launch));
    }
    if (is_here(merged_of(launch))) {
      ASSIGN_OR_RETURN(const auto run, campaign::load_run(merged_of(launch)));
      if (there && !run.point.complete()) {
        return invalid(format("{}: did not end as planned\n  remove it to measure it again",
                              merged_of(launch).string()));
      }
      points.push_back(campaign::summary_json(run));
      merged += " " + merged_of(launch).string();
    }
    // A client that was limited at one level says nothing of the others.
    if (code != exit_code(ExitCode::done)) worst = code;
    if (code != exit_code(ExitCode::done) && code != exit_code(ExitCode::client_limited)) break;
  }
  if (options.json) {
    print(Json().set("points", std::move(points)).dump(2) + "\n");
  } else if (!merged.empty()) {
    print(format("\n  next    assay import{}\n", merged));
  }
  return worst;
}

}  // namespace

Result<int> cmd_launch(Args args) {
  LaunchOptions options;
  options.spec.name = "assay";
  options.spec.program = "assay";
  Flags flags("launch", "start the ranks of one run on many hosts, by an engine that is there");
  add_launch_flags(flags, options);
  flags.add("RUN", &options.spec.run, "the words of `assay run`, after --").required();
  ASSIGN_OR_RETURN(const bool parsed, flags.parse(args));
  if (!parsed) return exit_code(ExitCode::done);

  constexpr std::uint64_t kPortMost = 65535;
  if (options.port < 1 || options.port > kPortMost) return invalid("--port: 1 to 65535");
  options.spec.port = static_cast<std::uint16_t>(options.port);
  options.spec.ranks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(options.ranks, kPortMost));
  for (const std::string_view host : split(options.hosts, ',')) {
    if (!host.empty()) options.spec.hosts.emplace_back(host);
  }
  if (!options.levels.empty()) return go_levels(options);
  ASSIGN_OR_RETURN(const ranks::Launch launch, plan_launch(options.spec));
  if (!options.dry_run) return go(options, launch);
  options.json ? print(launch_json(launch).dump(2) + "\n") : print_launch(launch);
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
