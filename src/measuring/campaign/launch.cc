#include "campaign/launch.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/talk.h"
#include "base/text.h"
#include "campaign/merge_ranks.h"
#include "campaign/run_folder.h"
#include "ranks/launch.h"
#include "report/terminal.h"

namespace assay::campaign {
namespace {

Json launch_json(const ranks::Launch& launch) {
  Json files = Json::array();
  for (const ranks::LaunchFile& file : launch.files) {
    files.push_back(Json().set("path", launch.report_dir + "/" + file.name).set("text", file.text));
  }
  Json commands = Json::array();
  for (const auto& words : launch.commands) {
    commands.push_back(json_list(words));
  }
  return Json()
      .set("ranks", launch.ranks)
      .set("files", std::move(files))
      .set("commands", std::move(commands));
}

void print_launch(const ranks::Launch& launch, const Talk& talk) {
  for (const ranks::LaunchFile& file : launch.files) {
    talk.print(format("# {}/{}\n{}\n", launch.report_dir, file.name, file.text));
  }
  for (const auto& words : launch.commands) talk.print(ranks::shell_line(words) + "\n");
}

// Its output is ours, but standard output where `quiet`: that carries one result.
Result<pid_t> start_rank(const std::vector<std::string>& words, bool quiet) {
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
int wait_for_rank(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kBySignal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

// The first code other than 0, by rank: rank 0's is the run's.
Result<int> start_ranks(const ranks::Launch& launch, bool quiet) {
  std::vector<pid_t> started;
  Result<int> out = 0;
  for (const auto& words : launch.commands) {
    auto pid = start_rank(words, quiet);
    if (!pid) {
      out = pid.error();
      for (const pid_t other : started) ::kill(other, SIGINT);
      break;
    }
    started.push_back(*pid);
  }
  for (const pid_t pid : started) {
    const int code = wait_for_rank(pid);
    if (out && *out == 0) out = code;
  }
  return out;
}

bool holds_run(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "assay", error);
}

void show_merged(const audit::LoadedRun& run, bool json, const Talk& talk) {
  talk.print(
      json ? summary_json(run).dump(2) + "\n"
           : report::terminal_report(run.point, report_context(run), report::terminal_style(1)));
}

// Where the hosts have no disk in common, rank 0 could not merge.
Result<void> gather_and_merge(const LaunchOptions& options, const ranks::LaunchSpec& spec,
                              const ranks::Launch& launch, const Talk& talk) {
  const std::filesystem::path all = launch.report_dir;
  TRY(make_folders(all));
  std::vector<std::filesystem::path> folders;
  for (std::uint32_t rank = 0; rank < launch.ranks; ++rank) {
    const std::filesystem::path folder = all / format("rank-{}", rank);
    if (!holds_run(folder)) {
      ASSIGN_OR_RETURN(const pid_t pid,
                       start_rank({"sh", "-c", ranks::gather_line(spec, launch, rank)}, true));
      if (wait_for_rank(pid) != 0) {
        talk.say(format("rank {}'s folder could not be brought here from {}", rank,
                        launch.rank_hosts[rank]));
      }
    }
    if (holds_run(folder)) folders.push_back(folder);
  }
  ASSIGN_OR_RETURN(const auto run, merge_ranks(folders, all / "merged", {.allow_missing = true}));
  if (!options.json) show_merged(run, false, talk);
  return {};
}

std::filesystem::path merged_of(const ranks::Launch& launch) {
  return std::filesystem::path(launch.report_dir) / "merged";
}

// Returns the run's exit code. Prints the result where a person reads.
Result<int> measure_ranks(const LaunchOptions& options, const ranks::LaunchSpec& spec,
                          const ranks::Launch& launch, const Talk& talk) {
  for (const ranks::LaunchFile& file : launch.files) {
    TRY(write_file_atomic(std::filesystem::path(launch.report_dir) / file.name, file.text));
  }
  // mpirun's rank 0 shows the result itself; what ssh brings is of ranks on other disks.
  const bool ssh = !launch.rank_hosts.empty();
  ASSIGN_OR_RETURN(const int code, start_ranks(launch, options.json || ssh));
  if (ssh && !holds_run(merged_of(launch))) {
    TRY(gather_and_merge(options, spec, launch, talk));
  } else if (ssh && !options.json) {
    ASSIGN_OR_RETURN(const auto run, load_run(merged_of(launch)));
    show_merged(run, false, talk);
  }
  return code;
}

Result<int> go_once(const LaunchOptions& options, const ranks::Launch& launch, const Talk& talk) {
  ASSIGN_OR_RETURN(const int code, measure_ranks(options, options.spec, launch, talk));
  if (!options.json) return code;
  if (holds_run(merged_of(launch))) {
    ASSIGN_OR_RETURN(const auto run, load_run(merged_of(launch)));
    show_merged(run, true, talk);
  } else {
    talk.print(launch_json(launch).dump(2) + "\n");
  }
  return code;
}

Result<std::vector<std::uint64_t>> launch_levels(const std::string& list) {
  std::vector<std::uint64_t> out;
  for (const std::string_view word : split(list, ',')) {
    const auto level = parse_uint(trim(word));
    if (!level || *level == 0) {
      return invalid(format("--levels: '{}' is not a concurrency\n  such as 1,16,64", word));
    }
    out.push_back(*level);
  }
  return out;
}

// The levels of a curve, one after the other. The first that fails ends it; called again it goes
// on there.
Result<int> go_levels(const LaunchOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto levels, launch_levels(options.levels));
  Json points = Json::array();
  int worst = exit_code(ExitCode::done);
  std::string merged;
  for (const std::uint64_t level : levels) {
    ASSIGN_OR_RETURN(const ranks::LaunchSpec spec, ranks::at_level(options.spec, level));
    ASSIGN_OR_RETURN(const ranks::Launch launch, plan_launch(spec));
    if (options.dry_run) {
      if (!options.json) print_launch(launch, talk);
      points.push_back(launch_json(launch));
      continue;
    }
    int code = exit_code(ExitCode::done);
    const bool there = holds_run(merged_of(launch));
    if (there) {
      talk.say(format("{}: is there", launch.report_dir));
    } else {
      ASSIGN_OR_RETURN(code, measure_ranks(options, spec, launch, talk));
    }
    if (holds_run(merged_of(launch))) {
      ASSIGN_OR_RETURN(const auto run, load_run(merged_of(launch)));
      if (there && !run.point.complete()) {
        return invalid(format("{}: did not end as planned\n  remove it to measure it again",
                              merged_of(launch).string()));
      }
      points.push_back(summary_json(run));
      merged += " " + merged_of(launch).string();
    }
    // A client that was limited at one level says nothing of the others.
    if (code != exit_code(ExitCode::done)) worst = code;
    if (code != exit_code(ExitCode::done) && code != exit_code(ExitCode::client_limited)) break;
  }
  if (options.json) {
    talk.print(Json().set("points", std::move(points)).dump(2) + "\n");
  } else if (!merged.empty()) {
    talk.print(format("\n  next    assay import{}\n", merged));
  }
  return worst;
}

}  // namespace

Result<int> launch_ranks(LaunchOptions options, const Talk& talk) {
  constexpr std::uint64_t kPortMost = 65535;
  if (options.port < 1 || options.port > kPortMost) return invalid("--port: 1 to 65535");
  options.spec.port = static_cast<std::uint16_t>(options.port);
  options.spec.ranks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(options.ranks, kPortMost));
  for (const std::string_view host : split(options.hosts, ',')) {
    if (!host.empty()) options.spec.hosts.emplace_back(host);
  }
  if (!options.levels.empty()) return go_levels(options, talk);
  ASSIGN_OR_RETURN(const ranks::Launch launch, plan_launch(options.spec));
  if (!options.dry_run) return go_once(options, launch, talk);
  options.json ? talk.print(launch_json(launch).dump(2) + "\n") : print_launch(launch, talk);
  return exit_code(ExitCode::done);
}

}  // namespace assay::campaign
