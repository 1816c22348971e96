// RankPlace: which of a run's processes this one is, and where rank 0 listens. From flags, or from
// what the engine that started the process put into its environment: Open MPI, MPICH and others
// that speak PMI, Slurm, an indexed Job or JobSet of Kubernetes.
//
// Pure but for the environment, which the caller passes. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace assay::ranks {

struct RankPlace {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  std::string host{};  // of rank 0
  std::uint16_t port = 0;
  std::string from{};  // what said so, for a person: "--rank", "Open MPI", …
  // How long ranks wait for one another before the start and after the end.
  Duration patience{300'000'000'000};
};

struct RankFlags {
  std::optional<std::string> rank{};        // I/N, or "none"
  std::optional<std::string> rendezvous{};  // HOST:PORT of rank 0
  Duration patience{300'000'000'000};
};

// A variable's value; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// nullopt: a run of one process. Code::invalid_argument where the flags or the engine's variables
// do not name a place, or where nothing names rank 0's address.
Result<std::optional<RankPlace>> find_place(const RankFlags& flags, const Environment& variable);

}  // namespace assay::ranks
