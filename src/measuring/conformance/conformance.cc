#include "conformance/conformance.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "base/version.h"
#include "campaign/calibrate/endpoint_process.h"
#include "conformance/material.h"
#include "host/self_audit.h"

namespace assay::conformance {
namespace {

const std::vector<std::string>& peer_environment() {
  static const std::vector<std::string> kValues{"VLLM_NO_USAGE_STATS=1", "NO_COLOR=1",
                                                "NO_PROXY=127.0.0.1,localhost"};
  return kValues;
}

// The last line that speaks of an error, else the last one: some programs say goodbye after it.
std::string reason_in(const std::string& words) {
  const std::vector<std::string_view> lines = split(words, '\n');
  const auto found = std::ranges::find_if(lines.rbegin(), lines.rend(), [](std::string_view line) {
    return lower(line).find("error") != std::string::npos;
  });
  return std::string(found == lines.rend() ? lines.back() : *found);
}

std::string why_it_failed(const Row& row, const std::filesystem::path& words, Duration limit) {
  if (row.run.timed_out) return format("not done after {:.0f} s", limit.seconds());
  if (row.run.exit_code == 0) return {};
  return format("exit code {}: {}", row.run.exit_code, reason_in(last_lines(words, 50)));
}

double seconds_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What others took while it lives. The endpoint and the peer are our children and no others: both
// must have ended before stop().
class Disturbance {
 public:
  void stop(Row& row) {
    ClientAudit seen;
    audit_.stop(seen);
    row.cores = seen.cores;
    const double wall = seen.wall.seconds();
    if (wall <= 0 || seen.foreign_cpu < 0) return;
    const double ours = (seconds_of_children() - children_) / wall;
    const double stolen = seen.stolen > seen.stolen_step ? seen.stolen.seconds() / wall : 0;
    row.taken_cores = std::max(0.0, seen.foreign_cpu - ours) + stolen;
  }

 private:
  double children_ = seconds_of_children();
  host::SelfAudit audit_{host::SelfAudit::Canary::no};
};

Result<Row> run_once(const Installed& who, const Settings& settings, std::uint32_t streams,
                     const std::filesystem::path& folder) {
  TRY(make_folders(folder));
  Row row{.who = who,
          .streams = streams,
          .requests = std::max(streams * settings.rounds, settings.requests_min)};
  TRY(write_material(folder / "material", row.requests));
  TRY(make_folders(folder / "result"));
  const auto truth_log = folder / "truth.alog";
  Disturbance disturbance;
  ASSIGN_OR_RETURN(auto endpoint,
                   campaign::EndpointProcess::start(
                       {"--ttft", settings.ttft, "--itl", settings.itl, "--osl",
                        format("{}", settings.tokens), "--truth-log", truth_log.string()},
                       {}));
  const Job job{.url = endpoint->url(),
                .model = "assay",
                .streams = streams,
                .requests = row.requests,
                .tokens = settings.tokens,
                .prompts = folder / "material/prompts.jsonl",
                .tokenizer = folder / "material/tokenizer",
                .folder = folder / "result"};
  const auto words = folder / "words.txt";
  auto run =
      run_program(who.program, who.peer->arguments(job), peer_environment(), words, settings.limit);
  TRY(endpoint->stop());
  if (!run) return run.error();
  disturbance.stop(row);
  row.run = *run;
  ASSIGN_OR_RETURN(const endpoint::TruthRecord truth, endpoint::read_truth_log(truth_log));
  row.truth = truth_figures(truth);
  row.failure = why_it_failed(row, words, settings.limit);
  if (!row.failure.empty()) return row;
  auto figures = who.peer->read(job);
  if (figures) {
    row.figures = *figures;
  } else {
    row.failure = figures.error().message;
  }
  return row;
}

}  // namespace

Result<Row> least_disturbed(const std::filesystem::path& folder, std::uint32_t tries,
                            const std::function<Result<Row>()>& run) {
  const std::filesystem::path kept = folder.string() + ".kept";
  std::error_code failed;
  std::optional<Row> best;
  for (std::uint32_t done = 1; !best || (best->disturbed() && done <= tries); ++done) {
    std::filesystem::remove_all(folder, failed);
    ASSIGN_OR_RETURN(Row row, run());
    const bool better = !best || row.taken_cores < best->taken_cores;
    if (better) {
      best = std::move(row);
      std::filesystem::remove_all(kept, failed);
      std::filesystem::rename(folder, kept, failed);
      if (failed) return Error{Code::io, format("{}: {}", folder.string(), failed.message())};
    }
    best->tries = done;
  }
  std::filesystem::remove_all(folder, failed);
  std::filesystem::rename(kept, folder, failed);
  if (failed) return Error{Code::io, format("{}: {}", folder.string(), failed.message())};
  return *best;
}

Result<Row> run_job(const Installed& who, const Settings& settings, std::uint32_t streams) {
  const auto folder = settings.folder / format("{}-{}", who.peer->id, streams);
  return least_disturbed(folder, settings.tries,
                         [&] { return run_once(who, settings, streams, folder); });
}

std::string version_of(const Peer& peer, const std::filesystem::path& program,
                       const std::filesystem::path& scratch) {
  if (peer.program.empty()) return std::string(assay::version());
  const auto words = scratch / format("{}-version.txt", peer.id);
  const auto run =
      run_program(program, {"--version"}, peer_environment(), words, Duration{120'000'000'000});
  if (!run || run->exit_code != 0) return {};
  // The last word that begins with a digit: "guidellm version: 0.8.1".
  const std::string said = last_lines(words, 50);
  std::string out;
  for (const std::string_view line : split(said, '\n')) {
    for (const std::string_view word : split(line, ' ')) {
      const bool number = !word.empty() && word[0] >= '0' && word[0] <= '9';
      if (number && word.find('.') != std::string_view::npos) out = word;
    }
  }
  return out;
}

}  // namespace assay::conformance
