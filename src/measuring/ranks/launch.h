// What an engine needs to start the ranks of one run: the files to write and the commands to start.
// Nothing is started here, so that a person can read it first (`assay launch --dry-run`).
//
//     mpi    one mpirun                         slurm  a job script, and sbatch --wait
//     k8s    a manifest: a headless Service     ssh    one ssh for each rank
//            and an Indexed Job
//
// Pure. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::ranks {

struct LaunchSpec {
  std::string engine{};                     // mpi, slurm, k8s, ssh
  std::vector<std::string> hosts{};         // with mpi and ssh; a host may stand more than once
  std::uint32_t ranks = 0;                  // 0: one for each host
  std::uint16_t port = 7077;                // where rank 0 listens
  std::string program{};                    // on the hosts, or in the image
  std::vector<std::string> run{};           // the words after `assay run`
  std::string name{};                       // of the job; lower-case letters, digits and hyphens
  std::vector<std::string> engine_words{};  // more words for the engine's own command
  std::string image{};                      // with k8s
  std::string claim{};                      // with k8s: the volume claim that holds the report dir
  std::string secret{};  // with k8s: a Secret whose entries become variables (--api-key-env)
};

struct LaunchFile {
  std::string name{};  // below the report dir
  std::string text{};
};

struct Launch {
  std::string report_dir{};
  std::uint32_t ranks = 0;
  std::vector<LaunchFile> files{};
  // To be started at once, and awaited. One, or with ssh one a rank.
  std::vector<std::vector<std::string>> commands{};
  // With ssh: the host of each rank.
  std::vector<std::string> rank_hosts{};
};

// Code::invalid where a part is missing, or the run's words say what the engine is to say.
Result<Launch> plan_launch(const LaunchSpec& spec);

// The spec of one level of a curve over ranks: the run at this concurrency, below r<level> of its
// report dir, in a job of its own name. Code::invalid where the run's words name a load themselves.
Result<LaunchSpec> at_level(const LaunchSpec& spec, std::uint64_t level);

// As a POSIX shell reads it back: plain where it may be, else in single quotes.
std::string shell_word(const std::string& word);
std::string shell_line(const std::vector<std::string>& words);

// With ssh, for a rank whose folder is on its host only: a shell line that brings it below the
// report dir here.
std::string gather_line(const LaunchSpec& spec, const Launch& launch, std::uint32_t rank);

}  // namespace assay::ranks
