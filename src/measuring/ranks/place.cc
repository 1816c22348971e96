#include "ranks/place.h"

#include <cstdlib>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::ranks {
namespace {

constexpr std::uint32_t kRanksMax = 4096;

struct Engine {
  const char* name;
  const char* rank;
  const char* count;
};
// Slurm's come last: other starters run inside its allocations. ASSAY_RANKS is set by our own
// manifests, because Kubernetes gives a pod its index and not the number of pods.
constexpr Engine kEngines[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE"},
    {"Kubernetes", "JOB_COMPLETION_INDEX", "ASSAY_RANKS"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS"},
};

Result<RankPlace> place_of(std::string_view index, std::string_view count, std::string from) {
  const Result<std::int64_t> i = parse_int(index);
  const Result<std::int64_t> n = parse_int(count);
  if (!i || !n || *n < 1 || *n > kRanksMax || *i < 0 || *i >= *n) {
    return invalid(format("{}: rank '{}' of '{}'\n  I/N: I from 0 to N - 1, N up to {}", from,
                          index, count, kRanksMax));
  }
  return RankPlace{.index = static_cast<std::uint32_t>(*i),
                   .count = static_cast<std::uint32_t>(*n),
                   .from = std::move(from)};
}

// The script of a batch job and a job's outer step see the variables too; they are no rank.
bool is_slurm_rank(const Environment& variable) {
  constexpr std::uint32_t kFirstSpecialStep = 0xffff0000;
  const auto step = variable("SLURM_STEP_ID");
  if (!step) return false;
  const Result<std::int64_t> number = parse_int(*step);
  return number && *number >= 0 && *number < kFirstSpecialStep;
}

Result<std::optional<RankPlace>> place_by_engine(const Environment& variable) {
  for (const Engine& engine : kEngines) {
    const auto rank = variable(engine.rank);
    const auto count = variable(engine.count);
    if (!rank || !count) continue;
    if (std::string_view(engine.name) == "Slurm" && !is_slurm_rank(variable)) continue;
    ASSIGN_OR_RETURN(RankPlace place, place_of(*rank, *count, engine.name));
    return std::optional(std::move(place));
  }
  return std::optional<RankPlace>();
}

// The first host of "node[03-07,9],other": "node03".
std::string first_host(std::string_view list) {
  const std::size_t open = list.find_first_of("[,");
  if (open == std::string_view::npos) return std::string(list);
  std::string host(list.substr(0, open));
  if (list[open] == ',') return host;
  const std::string_view numbers = list.substr(open + 1);
  host += numbers.substr(0, numbers.find_first_of("-,]"));
  const std::size_t close = numbers.find(']');
  if (close == std::string_view::npos) return host;
  const std::string_view rest = numbers.substr(close + 1);
  return host + std::string(rest.substr(0, rest.find(',')));
}

// A port of its own for each job, so that two jobs of one host do not meet.
std::uint16_t port_of(std::string_view job) {
  constexpr std::uint64_t kFirst = 20'000;
  constexpr std::uint64_t kPorts = 10'000;
  return static_cast<std::uint16_t>(kFirst + xxh3(job) % kPorts);
}

Result<void> set_address(std::string_view text, const char* from, RankPlace& place) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = !text.empty() && text.front() == '[';
  std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const Result<std::int64_t> port =
      colon == std::string_view::npos ? Result<std::int64_t>(0) : parse_int(text.substr(colon + 1));
  if (bracketed && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || !port || *port < 1 || *port > 65535) {
    return invalid(format("{}: '{}' is not an address of rank 0\n  HOST:PORT", from, text));
  }
  place.host = host;
  place.port = static_cast<std::uint16_t>(*port);
  return {};
}

Result<void> find_address(const RankFlags& flags, const Environment& variable, RankPlace& place) {
  if (flags.rendezvous) return set_address(*flags.rendezvous, "--rendezvous", place);
  if (const auto said = variable("ASSAY_RENDEZVOUS")) {
    return set_address(*said, "ASSAY_RENDEZVOUS", place);
  }
  if (place.from == "Slurm") {
    const auto nodes = variable("SLURM_STEP_NODELIST");
    const auto job = variable("SLURM_JOB_ID");
    if (nodes && job) {
      place.host = first_host(*nodes);
      place.port = port_of(*job + "." + variable("SLURM_STEP_ID").value_or(""));
      return {};
    }
  }
  const auto local = variable("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (place.from == "Open MPI" && local && *local == format("{}", place.count)) {
    place.host = "127.0.0.1";
    place.port = port_of(variable("PMIX_NAMESPACE").value_or(""));
    return {};
  }
  return invalid(
      format("{} says rank {} of {}, and nothing says where rank 0 listens\n  --rendezvous "
             "HOST:PORT, the same on every rank",
             place.from, place.index, place.count));
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<std::optional<RankPlace>> find_place(const RankFlags& flags, const Environment& variable) {
  std::optional<RankPlace> place;
  if (!flags.rank) {
    ASSIGN_OR_RETURN(place, place_by_engine(variable));
  } else if (*flags.rank != "none") {
    const std::string_view text = *flags.rank;
    const std::size_t slash = text.find('/');
    const std::string_view count =
        slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
    ASSIGN_OR_RETURN(place, place_of(text.substr(0, slash), count, "--rank"));
  }
  if (!place || place->count == 1) return std::optional<RankPlace>();
  place->patience = flags.patience;
  TRY(find_address(flags, variable, *place));
  return place;
}

}  // namespace assay::ranks
