// Conformance: peers measure the built-in endpoint, whose truth is known, one after another, and
// each figure is laid beside the truth of the very job that it is of. A job that other programs
// disturbed says so, and is measured again where that was asked for. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "conformance/peer.h"
#include "conformance/program.h"
#include "conformance/truth.h"

namespace assay::conformance {

struct Settings {
  std::string ttft = "50ms";  // of the endpoint; as its flags are written
  std::string itl = "10ms";
  std::uint32_t tokens = 64;
  std::vector<std::uint32_t> streams{1, 16, 256};
  std::uint32_t rounds = 4;  // requests = streams × rounds, at least `requests_min`
  std::uint32_t requests_min = 32;
  Duration limit{300'000'000'000};  // for one peer's job
  std::uint32_t tries = 1;          // at most, while the job is disturbed
  std::filesystem::path folder{};
};

// A peer and where its program lies.
struct Installed {
  const Peer* peer = nullptr;
  std::filesystem::path program{};
  std::string version{};  // as it says; "" if it does not
};

// Cores taken by others during a job, on average; above it, the job's figures are also theirs.
inline constexpr double kTakenMost = 0.1;

struct Row {
  Installed who{};
  std::uint32_t streams = 0;
  std::uint32_t requests = 0;
  ProgramRun run{};
  TruthFigures truth{};
  std::optional<Figures> figures{};  // none: `failure` says why
  std::string failure{};
  // Cores that other programs and the hypervisor took during the job, on average; negative where
  // the system does not report it.
  double taken_cores = -1;
  int cores = 0;
  std::uint32_t tries = 1;

  bool disturbed() const { return taken_cores > kTakenMost; }
  // What the truth is in the peer's definition of an inter-token latency.
  const Spread& true_gaps() const {
    return who.peer->gaps == Gaps::each ? truth.gaps : truth.reply_gaps;
  }
};

// Runs one job in a folder of its own below settings.folder, and again while it is disturbed, at
// most settings.tries times. The least disturbed one is kept, with its files. An error is ours (no
// endpoint, no disk); what a peer does wrong stands in the row.
Result<Row> run_job(const Installed& who, const Settings& settings, std::uint32_t streams);

// What run_job() does around one job, `run`: `folder` is where it leaves its files.
Result<Row> least_disturbed(const std::filesystem::path& folder, std::uint32_t tries,
                            const std::function<Result<Row>()>& run);

// Asks a program for its version.
std::string version_of(const Peer& peer, const std::filesystem::path& program,
                       const std::filesystem::path& scratch);

Json rows_json(const Settings& settings, const std::vector<Row>& rows);
// Errors are the peer's figure minus the truth.
std::string rows_text(const Settings& settings, const std::vector<Row>& rows);
std::string rows_markdown(const Settings& settings, const std::vector<Row>& rows);

}  // namespace assay::conformance
